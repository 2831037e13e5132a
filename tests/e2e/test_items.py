"""Items through the real program: rules, a model beside them, and personal data that is forgotten for good."""

import json
from dataclasses import replace

from bailiwick.demo.web.sites import Web
from tests.backends.model_server import KEY, KEY_NAME, completion, model_server
from tests.e2e.conftest import MakeLand

A = "alpha.test"
TEAM = """<html lang="en"><title>Our team - Oak Fund</title><main><h1>Our team</h1>
<div><h3>Jo Doe</h3><p>Director</p><p><a href="mailto:jo@oakfund.org">E-mail Jo</a></p></div>
<div><h3>Al Roe</h3><p>Treasurer</p><p>al (at) oakfund (dot) org</p></div>
<p>We all sing in the choir of the town, every Tuesday, come rain or snow, and so can you.</p></main></html>"""


def test_who_is_forgotten_stays_forgotten(land_of: MakeLand) -> None:
    web = Web.generate(21, hosts=[A], pages_per_host=4)
    home = web[A].page("/")
    assert home is not None
    web[A].add(replace(home, path="/team", body=TEAM))
    land = land_of(web)
    url = f"http://{land.name(A)}/team"
    land.crawl(land.name(A), url, "--depth", "all", parse=True)
    team = land.run("contact", "list", "--page", url, "--json").rows
    assert [(row["name"], row["role"], row["email"]) for row in team] == [
        ("Jo Doe", "Director", "jo@oakfund.org"),
        ("Al Roe", "Treasurer", "al@oakfund.org"),
    ]
    assert "1 item removed" in land.run("contact", "forget", "jo@oakfund.org", "--yes").out
    land.run("parse", "--reparse", "contact", "--force")
    left = land.run("contact", "list", "--page", url, "--json").rows
    assert [row["email"] for row in left] == ["al@oakfund.org"]
    assert land.value("select count(*) from items where strpos(data::text, 'jo@oakfund') > 0") == 0
    assert "jo@oakfund.org" not in land.run("events", "--json").out
    land.check()


def test_a_model_gives_items_that_the_rules_do_not_find(land_of: MakeLand) -> None:
    land = land_of(Web.generate(22, hosts=[A], pages_per_host=4))
    (land.home / "profiles").mkdir()
    (land.home / "profiles" / "mine.toml").write_text(
        'title = "Mine"\nextractors = ["funding_programme"]\n[model]\nextract = "missing"\n'
    )
    with model_server() as server:
        server.says = [
            completion(json.dumps({"funding_programme": [{"name": "Oak Fund", "organisation": "Oak Trust"}]}))
        ]
        env = {"BAILIWICK_MODEL_BASE_URL": server.url, "BAILIWICK_MODEL_NAME": "small", KEY_NAME: KEY,
               "BAILIWICK_MODEL_API_KEY_ENV": KEY_NAME}  # fmt: skip
        land.crawl(land.name(A), "--depth", "all", "--profile", "mine", parse=True, **env)
        asked, contents = len(server.requests), land.value("select count(distinct content_hash) from page_snapshots")
        assert contents <= asked <= len(land.fetched(A))
        found = land.run("item", "list", "--kind", "funding_programme", "--json").rows
        assert {(row["title"], row["extractor"]) for row in found} == {("Oak Fund", "model:small")}
        assert len(found) == land.value("select count(*) from page_parses where outcome = 'parsed'")
        land.run("parse", "--reparse", "all", "--force", **env)
        assert len(server.requests) == asked
    land.check()
