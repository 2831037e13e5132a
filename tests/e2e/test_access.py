"""Private certificates, credentials, the guard, the User-Agent: what is sent to whom."""

import ssl
from pathlib import Path

import pytest
import trustme

from bailiwick.demo.web.answers import Answer, Request
from bailiwick.demo.web.running import serve
from bailiwick.demo.web.sites import Site, Web
from tests.e2e.conftest import MakeLand
from tests.e2e.tools import Land
from tests.servers import TestServers

HOST = "private.test"


class Heard:
    """Notes the headers of every request."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def __call__(self, request: Request, answer: Answer) -> Answer:
        self.requests.append(request)
        return answer

    def values(self, header: str, scheme: str) -> set[str | None]:
        return {request.headers.get(header) for request in self.requests if request.scheme == scheme}


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def secure_land(servers: TestServers, home: Path, authority: trustme.CA, heard: Heard, **site: object) -> object:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST, f"www.{HOST}").configure_cert(context)
    tree = Web.generate(1, hosts=[HOST], pages_per_host=8)[HOST].tree
    web = Web([Site(HOST, tree, **site)])  # type: ignore[arg-type]
    web[HOST].behave_everywhere(heard)
    return serve(web, tls=context)


def settings_file(home: Path, authority: trustme.CA | None) -> None:
    lines = ['[domains."private.test:PORT"]', 'headers = { X-Team = "blue", X-Key = { env = "TEST_KEY" } }',
             'cookies = { session = { env = "TEST_COOKIE" } }',
             'basic_auth = { user = "me", password = { env = "TEST_PASSWORD" } }']  # fmt: skip
    if authority is not None:
        authority.cert_pem.write_to_path(home / "ca.pem")
        lines = ["[net]", f'extra_ca_file = "{home}/ca.pem"', *lines]
    (home / "bailiwick.toml").write_text("\n".join(lines))


SECRETS = {"TEST_KEY": "k3y", "TEST_COOKIE": "c00kie", "TEST_PASSWORD": "pässword"}


def test_a_private_certificate_and_credentials_over_https(
    servers: TestServers, tmp_path: Path, authority: trustme.CA
) -> None:
    heard = Heard()
    with secure_land(servers, tmp_path, authority, heard) as running, servers.cloned("pg18") as url:  # type: ignore[attr-defined]
        land = Land(tmp_path, running, url)
        settings_file(tmp_path, authority)
        file = tmp_path / "bailiwick.toml"
        file.write_text(file.read_text().replace("PORT", str(running.port)))
        ran = land.crawl(land.name(HOST), "--depth", "all", "--json", **SECRETS)
        assert land.value("select base_url from domains").startswith("https://")
        assert land.fetched(HOST) == running.web[HOST].reachable()
        assert heard.values("x-key", "https") == {"k3y"}
        assert heard.values("x-team", "https") == {"blue"}
        assert heard.values("cookie", "https") == {"session=c00kie"}
        assert all(value and value.startswith("Basic ") for value in heard.values("authorization", "https"))
        stored = land.value("select string_agg(options::text, '') from jobs") + ran.out + ran.err
        assert not any(secret in stored for secret in SECRETS.values())
        land.check()


def test_nothing_secret_is_sent_over_plain_http(servers: TestServers, tmp_path: Path, authority: trustme.CA) -> None:
    """The certificate is not trusted, so http is what answers: it gets no header of ours."""
    heard = Heard()
    with secure_land(servers, tmp_path, authority, heard) as running, servers.cloned("pg18") as url:  # type: ignore[attr-defined]
        land = Land(tmp_path, running, url)
        settings_file(tmp_path, None)
        file = tmp_path / "bailiwick.toml"
        file.write_text(file.read_text().replace("PORT", str(running.port)))
        land.crawl(land.name(HOST), "--depth", "all", **SECRETS)
        assert land.value("select base_url from domains").startswith("http://")
        assert heard.values("x-key", "http") == heard.values("cookie", "http") == {None}
        assert heard.values("authorization", "http") == heard.values("x-team", "http") == {None}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('headers = { Authorization = "Bearer abc" }', "Authorization is a secret"),
        ('basic_auth = { user = "me", password = "abc" }', "basic_auth.password"),
        ('cookies = { session = "abc" }', "cookies.session"),
        ("speed = 3", "speed"),
    ],
)
def test_a_secret_in_the_file_is_refused_without_being_shown(land_of: MakeLand, text: str, complaint: str) -> None:
    land = land_of(Web.generate(1, hosts=[HOST], pages_per_host=2))
    (land.home / "bailiwick.toml").write_text(f'[domains."example.org"]\n{text}\n')
    ran = land.crawl(land.name(HOST), code=2)
    assert complaint in ran.err
    assert "abc" not in ran.err


def test_a_missing_variable_is_named(land_of: MakeLand) -> None:
    land = land_of(Web.generate(1, hosts=[HOST], pages_per_host=2))
    (land.home / "bailiwick.toml").write_text('[domains."example.org"]\nheaders = { X-Key = { env = "NOT_SET" } }\n')
    ran = land.crawl(land.name(HOST), code=2)
    assert "NOT_SET is not set" in ran.err


def test_the_user_agent_names_product_and_contact(land_of: MakeLand) -> None:
    heard = Heard()
    web = Web.generate(1, hosts=[HOST], pages_per_host=2)
    web[HOST].behave_everywhere(heard)
    land = land_of(web)
    land.crawl(land.name(HOST))
    [agent] = heard.values("user-agent", "http")
    assert agent is not None
    assert agent.startswith("Bailiwick/")
    assert agent.endswith("(+tests@example.org)")
    land.run("domain", "recrawl", land.name(HOST))
    unset = land.crawl(land.name(HOST), BAILIWICK_CRAWL_CONTACT="")
    assert "warning: crawl.contact is not set" in unset.err


def test_the_guard_keeps_requests_from_loopback(land_of: MakeLand) -> None:
    """Without --resolve a name that points inside is refused before anything is sent."""
    land = land_of(Web.generate(1, hosts=[HOST], pages_per_host=2))
    name = f"127.0.0.1:{land.running.port}"
    env = {"BAILIWICK_NAMES_ALLOW_PRIVATE": "true", "BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS": "0.1"}
    ran = land.run("crawl", name, "--delay", "0", "--no-parse", **env)
    assert "unreachable" in ran.out
    assert land.running.log.entries() == []
    assert land.value("select last_outcome from pages") == "refused"
    land.run("domain", "reset", name)
    land.rows_done("update domains set crawl_delay_seconds = 0")
    land.run("crawl", "--no-parse", **env, BAILIWICK_NET_ALLOW_PRIVATE_NETWORKS="true")
    assert land.running.log.entries() != []
