"""Decisions on domains, by the real program: what one command does, another one shows."""

import subprocess
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.db.engine import Database
from bailiwick.model.names import DomainName
from bailiwick.registry.apply import lock_queue
from bailiwick.registry.records import get
from bailiwick.registry.release import BlockCode, Outcome
from tests.cli.domain_tools import add_member, crawled, domain, done, explained, listed, shown
from tests.cli.tools import PROGRAM, bailiwick, environment

BLOCKED = Outcome("blocked", BlockCode.LOGIN_WALL, "login required")


def test_the_life_of_a_domain(land: Path) -> None:
    new = done("submit", "https://WWW.Life.example.org/about?x=1", "--context", "a food bank", "--depth", "2", cwd=land)
    assert new.out.startswith("life.example.org is submitted for review")
    facts = shown("life.example.org", land)
    assert (facts["approval"], facts["standing"], facts["crawl"]) == ("pending_review", "discovered", "pending")
    assert (facts["submission_context"], facts["max_crawl_depth"], facts["submitter_type"]) == (
        "a food bank", 2, "admin",
    )  # fmt: skip
    assert "bailiwick domain approve life.example.org" in facts["moves"]

    assert done("approve", "LIFE.example.org.", "--reason", "seen", cwd=land).out == (
        "life.example.org is approved; it is due for crawling\n"
    )
    assert (shown("life.example.org", land)["rule"], shown("life.example.org", land)["review_reason"]) == (
        "may_be_crawled", "seen",
    )  # fmt: skip
    assert done("suspend", "life.example.org", "--reason", "too slow", cwd=land).out.endswith("suspended: too slow\n")
    assert listed("--approval", "suspended", "--prefix", "life.", cwd=land) == ["life.example.org"]
    assert done("resume", "life.example.org", cwd=land).out.startswith("life.example.org is approved again")

    done("blacklist", "life.example.org", "--reason", "link farm", cwd=land)
    assert listed("--standing", "blacklisted", "--prefix", "life.", cwd=land) == ["life.example.org"]
    assert "standing is discovered" in done("blacklist", "life.example.org", "--lift", cwd=land).out
    assert done("no-funds", "life.example.org", "--year", "2100", cwd=land).out == (
        "life.example.org has no funds in 2100; it comes back by itself in 2101\n"
    )
    assert shown("life.example.org", land)["rule"] == "no_funds_this_year"
    done("no-funds", "life.example.org", "--year", "2021", cwd=land)
    assert shown("life.example.org", land)["rule"] == "may_be_crawled"

    done("note", "life.example.org", "ask again in May", cwd=land)
    done("note", "life.example.org", "asked", cwd=land)
    facts = shown("life.example.org", land)
    assert facts["notes"] == "ask again in May\nasked"
    assert [e["did"] for e in facts["events"]] == [
        "note", "note", "mark_no_funds", "mark_no_funds", "lift", "blacklist", "resume", "suspend", "approve", "submit",
    ]  # fmt: skip
    page = done("show", "life.example.org", cwd=land).out
    assert "crawled now: yes (may_be_crawled)" in page
    assert "bailiwick domain suspend life.example.org" in page
    assert "suspend  approved → suspended  (too slow)" in page


def test_a_submission_is_answered_by_what_is_known(land: Path) -> None:
    first = done("submit", "answers.net", "--depth", "4", cwd=land)
    assert "warning: a depth of 4 can be slow" in first.err
    assert done("submit", "answers.net", cwd=land).out == "answers.net is already submitted for review\n"
    done("reject", "answers.net", "--reason", "off topic", cwd=land)
    refused = domain("submit", "answers.net", cwd=land)
    assert (refused.code, refused.out) == (1, "")
    assert "it was rejected: off topic" in refused.err
    assert 'hint: bailiwick domain submit answers.net --context "why now"' in refused.err
    again = done("submit", "answers.net", "--context", "new owner", cwd=land)
    assert again.out == "answers.net is submitted for review again\n"
    assert done("submit", "answers.net", "--approve", cwd=land).out.startswith("answers.net is approved")
    known = done("submit", "answers.net", cwd=land).out
    assert known == "answers.net is already approved; to crawl it again: bailiwick domain recrawl answers.net\n"
    done("suspend", "answers.net", "--reason", "pause", cwd=land)
    assert "hint: bailiwick domain resume answers.net" in domain("submit", "answers.net", cwd=land).err
    done("blacklist", "answers.net", "--reason", "spam", cwd=land)
    black = domain("submit", "answers.net", "--context", "please", cwd=land)
    assert (black.code, "answers.net is blacklisted: spam" in black.err) == (1, True)
    assert shown("answers.net", land)["approval"] == "suspended"


def test_an_error_with_one_name_does_not_stop_the_others(land: Path) -> None:
    ran = domain("submit", "one.edu", "localhost", "two.edu", "two.edu", "", cwd=land)
    assert ran.code == 1
    assert [line.split()[0] for line in ran.out.splitlines()] == ["one.edu", "two.edu"]
    assert "error: 'localhost' is not a public domain name" in ran.err
    ran = domain("approve", "one.edu", "nowhere.edu", "two.edu", cwd=land)
    assert (ran.code, len(ran.out.splitlines())) == (1, 2)
    assert "error: there is no domain nowhere.edu\nhint: bailiwick domain submit nowhere.edu" in ran.err
    twice = domain("approve", "one.edu", cwd=land)
    assert twice.code == 1
    assert "one.edu: approval approved cannot approve; last: approve by" in twice.err


NO_DOMAINS = [
    "x" * 10_000 + ".org", "a." * 5_000 + "org", "bad\x01name.org", "two\nlines.org", "tab\there.org",
    "\x1b[31mred.org",
    "10.0.0.1", "0x7f.1", "[::1]", "localhost", "http://localhost:8080/x", "intranet", "me@example.org", "/etc/passwd",
    "javascript:alert(1)", "a..b", "\udcff\udcfe.org",
]  # fmt: skip


def test_what_is_no_domain_gets_a_clear_error_each_and_no_row(land: Path, store: Database) -> None:
    count = text("select count(*) from domains")
    with store.read() as conn:
        before = conn.execute(count).scalar_one()
    ran = domain("submit", *NO_DOMAINS, cwd=land)
    assert (ran.code, ran.out) == (1, "")
    lines = ran.err.splitlines()
    assert len([line for line in lines if line.startswith("error: ")]) == len(NO_DOMAINS)
    assert all(line.startswith(("error: ", "hint: ")) and len(line) < 200 and line.isprintable() for line in lines)
    single = domain("submit", "localhost", cwd=land)
    assert (single.code, single.err.startswith("error: 'localhost' is not a public domain name")) == (2, True)
    with store.read() as conn:
        assert conn.execute(count).scalar_one() == before


def test_mixed_scripts_come_in_as_punycode_with_a_warning(land: Path) -> None:
    dressed_up = "раураl.com"  # noqa: RUF001 - Cyrillic but for the last letter
    ran = done("submit", dressed_up, cwd=land)
    assert ran.out.startswith("xn--l-7sba6dbr.com is submitted")
    assert f"warning: xn--l-7sba6dbr ({dressed_up[:6]!r}) mixes scripts" in ran.err
    assert listed("--prefix", "xn--l-", cwd=land) == ["xn--l-7sba6dbr.com"]
    assert "mixes scripts" in done("show", dressed_up, cwd=land).out


def test_names_may_be_private_where_the_settings_allow_it(land: Path) -> None:
    allowed = {"BAILIWICK_NAMES_ALLOW_PRIVATE": "true"}
    assert domain("submit", "intranet:8080", cwd=land, **allowed).code == 0
    assert domain("submit", "intranet:9090", cwd=land).code == 2
    assert done("approve", "intranet:8080", cwd=land).out.startswith("intranet:8080 is approved"), "known, so nameable"


def test_trust_as_a_flag_and_as_rules(land: Path) -> None:
    done("submit", "flag.museum", cwd=land)
    assert done("trust", "flag.museum", cwd=land).out == "flag.museum is trusted and approved\n"
    assert shown("flag.museum", land)["is_trusted"] is True
    assert done("trust", "flag.museum", "--off", "--reason", "sold", cwd=land).out.endswith("no longer trusted\n")
    assert (shown("flag.museum", land)["is_trusted"], shown("flag.museum", land)["approval"]) == (False, "approved")

    assert "admitted on first sight" in done("trust", "--suffix", "*.TRUSTED.gov", "--reason", "ours", cwd=land).out
    assert "already trusted" in done("trust", "--suffix", ".trusted.gov", cwd=land).out
    [rule] = [r for r in done("trust", "--list", "--json", cwd=land).rows if r["suffix"] == ".trusted.gov"]
    assert rule["reason"] == "ours"
    assert explained("new.trusted.gov", land)["says"].endswith("the trust rule .trusted.gov admits it on first sight")
    assert done("submit", "new.trusted.gov", cwd=land).out.startswith("new.trusted.gov is approved")
    done("trust", "--suffix", ".trusted.gov", "--off", cwd=land)
    assert done("submit", "late.trusted.gov", cwd=land).out.startswith("late.trusted.gov is submitted for review")
    assert "there was no rule" in done("trust", "--suffix", ".trusted.gov", "--off", cwd=land).out
    for wrong in ((), ("x.org", "--suffix", ".org"), ("--suffix", "no suffix")):
        assert domain("trust", *wrong, cwd=land).code == 2

    done("submit", "wide.travel", cwd=land)
    wide = done("approve", "wide.travel", "--include-subdomains", cwd=land).out
    assert wide.endswith("names under .wide.travel are trusted\n")
    assert done("submit", "blog.wide.travel", cwd=land).out.startswith("blog.wide.travel is approved")
    rejected = domain("trust", "nobody.travel", cwd=land)
    assert (rejected.code, "there is no domain nobody.travel" in rejected.err) == (1, True)


def test_recrawl_and_reset(land: Path, store: Database) -> None:
    done("submit", "again.io", cwd=land)
    for verb in ("recrawl", "reset"):
        refused = domain(verb, "again.io", cwd=land)
        assert (refused.code, "again.io is pending_review" in refused.err) == (1, True)
    done("approve", "again.io", cwd=land)
    crawled(store, "again.io", Outcome("exhausted"), pages=3)
    assert explained("again.io", land)["rule"] == "not_due"
    assert done("recrawl", "again.io", cwd=land).out == (
        "again.io: every known page is asked for again; it is due for crawling\n"
    )
    crawled(store, "again.io", BLOCKED)
    refused = domain("recrawl", "again.io", cwd=land)
    assert (refused.code, "hint: bailiwick domain reset again.io" in refused.err) == (1, True)
    assert "are forgotten; it is due" in done("reset", "again.io", "--reason", "we have a login", cwd=land).out
    facts = shown("again.io", land)
    assert (facts["crawl"], facts["block_reason"], facts["block_retries"]) == ("pending", None, 0)
    assert (facts["events"][0]["did"], facts["events"][0]["reason"]) == ("reset", "we have a login")


def test_explain_names_the_rule_and_the_way_out(land: Path, store: Database) -> None:
    names = [f"{rule}.rules.dev" for rule in ("pend", "rej", "susp", "black", "funds", "cool", "due", "used", "ok")]
    pending, rejected, suspended, black, funds, cooling, due, used_up, fine = names
    done("submit", *names[:2], cwd=land)
    done("submit", *names[2:], "--approve", cwd=land)
    done("reject", rejected, "--reason", "no", cwd=land)
    done("suspend", suspended, "--reason", "later", cwd=land)
    done("blacklist", black, "--reason", "never", cwd=land)
    done("no-funds", funds, cwd=land)
    crawled(store, cooling, BLOCKED)
    crawled(store, due, Outcome("exhausted"))
    crawled(store, used_up, BLOCKED)
    with store.begin() as conn:  # as after the last automatic retry
        conn.execute(text("update domains set next_crawl_after = null where name = :n"), {"n": used_up})

    expected = {
        pending: ("pending_review", f"bailiwick domain approve {pending}"),
        rejected: ("rejected", f'bailiwick domain submit {rejected} --context "why now"'),
        suspended: ("suspended", f"bailiwick domain resume {suspended}"),
        black: ("blacklisted", f"bailiwick domain blacklist {black} --lift"),
        funds: ("no_funds_this_year", None),
        cooling: ("cooling_down", f"bailiwick domain reset {cooling}"),
        due: ("not_due", f"bailiwick domain recrawl {due}"),
        used_up: ("retries_used_up", f"bailiwick domain reset {used_up}"),
        fine: ("may_be_crawled", f"bailiwick crawl {fine}"),
        "unknown.rules.dev": ("unknown", "bailiwick domain submit unknown.rules.dev"),
    }
    for name, (rule, change) in expected.items():
        found = explained(f"https://www.{name}/some/page", land)
        assert (found["domain"], found["rule"], found["change"]) == (name, rule, change)
        assert found["may_crawl"] is (rule == "may_be_crawled")
    assert "login required; it is tried again at " in explained(cooling, land)["says"]
    plain = bailiwick("explain", rejected, cwd=land).out
    assert "rule       rejected" in plain
    assert "says       it was rejected: no" in plain
    assert bailiwick("explain", "localhost", cwd=land).code == 2


def test_roles_are_kept_to(land: Path, store: Database) -> None:
    add_member(store, "sub", "submitter")
    add_member(store, "eye", "viewer")
    sub, eye = {"BAILIWICK_AS": "sub"}, {"BAILIWICK_AS": "eye"}
    assert domain("submit", "roles.name", cwd=land, **sub).code == 0
    assert shown("roles.name", land)["submitter_type"] == "public_user"
    refused = bailiwick("--as", "sub", "domain", "approve", "roles.name", cwd=land)
    assert (refused.code, refused.out) == (1, "")
    assert "error: roles.name: sub (submitter) may not approve" in refused.err
    assert "hint: this takes the role admin, reviewer" in refused.err
    assert shown("roles.name", land)["approval"] == "pending_review"
    [seen] = domain("show", "roles.name", "--json", cwd=land, **sub).rows
    assert seen["moves"] == []
    for command in (
        ("submit", "roles2.name", "--approve"), ("trust", "roles.name"), ("trust", "--suffix", ".name"),
        ("note", "roles.name", "x"), ("purge", "roles.name", "--yes"), ("blacklist", "roles.name", "--reason", "x"),
    ):  # fmt: skip
        assert domain(*command, cwd=land, **sub).code in (1, 2), command
    assert domain("import", "-", "--approve", cwd=land, stdin="roles3.name\n", **sub).code == 2
    done("approve", "roles.name", cwd=land)
    for command in (("submit", "roles4.name"), ("recrawl", "roles.name")):
        assert domain(*command, cwd=land, **eye).code == 2
    assert domain("import", "-", cwd=land, stdin="roles5.name\n", **eye).code == 2
    assert bailiwick("url", "submit", "roles.name/x", cwd=land, **eye).code == 2
    assert listed("--prefix", "roles", cwd=land) == ["roles.name"]


def test_of_two_deciders_at_once_one_wins_and_the_other_is_told(land: Path, store: Database) -> None:
    done("submit", "race.wiki", cwd=land)
    with store.begin() as conn:
        # Both read the domain, then wait for its queue row: neither can know of the other.
        lock_queue(conn, [get(conn, DomainName("race.wiki")).id])
        both = [
            subprocess.Popen(
                [PROGRAM, "domain", *decision], cwd=land, env=environment(),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for decision in (("approve", "race.wiki"), ("reject", "race.wiki", "--reason", "not ours"))
        ]  # fmt: skip
        for _ in range(200):
            with store.read() as other:
                waiting = other.execute(
                    text("select count(*) from pg_stat_activity where wait_event_type = 'Lock'")
                ).scalar_one()
            if waiting == 2:
                break
            time.sleep(0.05)
        assert waiting == 2
    ended = [(process.communicate(timeout=60), process.returncode) for process in both]
    [((won, _), _)] = [end for end in ended if end[1] == 0]
    [((_, lost), _)] = [end for end in ended if end[1] == 1]
    now = shown("race.wiki", land)["approval"]
    assert won.startswith(f"race.wiki is {now}")
    verb = "approve" if now == "approved" else "reject"
    assert f"error: race.wiki has changed meanwhile: approval is {now} (version 2); last: {verb} by" in lost
    late = domain("reject", "race.wiki", "--reason", "too late", cwd=land)
    assert (late.code, f"race.wiki: approval {now} cannot reject; last: {verb} by" in late.err) == (1, True)


def test_a_url_goes_where_its_domain_stands(land: Path, store: Database) -> None:
    done("submit", "ok.press", "bad.press", "--approve", cwd=land)
    done("submit", "wait.press", cwd=land)
    done("suspend", "bad.press", "--reason", "down", cwd=land)
    urls = ("https://www.ok.press/a?utm_source=x&id=1#top", "wait.press/b", "bad.press/c", "none.press/d e")
    ran = bailiwick("url", "submit", *urls, "--contact", "me@example.org", cwd=land)
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "ok.press/a?id=1 is queued",
        "wait.press/b is kept with the submission of wait.press and crawled first once that is approved",
    ]
    assert "bad.press is not taken: it is suspended: down\nhint: bailiwick domain resume bad.press" in ran.err
    assert "none.press is unknown" in ran.err
    assert "hint: bailiwick domain submit none.press, or with this page: " in ran.err
    assert "bailiwick url submit --submit-domain 'none.press/d e'" in ran.err

    new = bailiwick("url", "submit", "none.press/d", "--submit-domain", "--context", "a paper", cwd=land)
    assert (new.code, new.out.startswith("none.press is submitted for review")) == (0, True)
    assert shown("none.press", land)["submission_context"] == "a paper"
    done("trust", "--suffix", ".known.press", cwd=land)
    assert bailiwick("url", "submit", "x.known.press/e", cwd=land).out == "x.known.press/e is queued\n"
    with store.read() as conn:
        wishes = conn.execute(
            text("select d.name, r.path, r.contact from page_requests as r join domains as d on d.id = r.domain_id "
                 "where d.site like '%press' order by 1")
        ).all()  # fmt: skip
    assert [tuple(wish) for wish in wishes] == [
        ("none.press", "/d", None),
        ("ok.press", "/a?id=1", "me@example.org"),
        ("wait.press", "/b", "me@example.org"),
        ("x.known.press", "/e", None),
    ]
    for wrong in (("localhost/x",), ("ok.press", "--contact", "nobody")):
        assert bailiwick("url", "submit", *wrong, cwd=land).code == 2
    collapsed = bailiwick("url", "submit", "blog.ok.press/x", cwd=land, BAILIWICK_NAMES_COLLAPSE_SUBDOMAINS="true")
    assert (collapsed.code, "blog.ok.press is part of ok.press here" in collapsed.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reject", "x.org"), "Missing option '--reason'"),
        (("blacklist", "x.org"), "blacklist needs a reason"),
        (("no-funds", "x.org", "--year", "1999"), "Invalid value for '--year'"),
        (("submit", "x.org", "--context", "\udcff"), "Invalid value for '--context': this is not valid UTF-8"),
        (("list", "--by", "site", "--sort", "yield"), "sites are in the order of their names"),
        (("list", "--sort", "priority", "--after", "no-such.org"), "there is no domain no-such.org to go on after"),
        (("import", "no-file"), "there is no file no-file"),
    ],
)
def test_wrong_usage_is_said_in_one_line(land: Path, arguments: tuple[str, ...], message: str) -> None:
    ran = domain(*arguments, cwd=land)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {message}"), ran.err


def test_a_blank_reason_is_none(land: Path) -> None:
    done("submit", "blank.info", cwd=land)
    ran = domain("reject", "blank.info", "--reason", "  ", cwd=land)
    assert (ran.code, "blank.info: reject needs a reason" in ran.err) == (2, True)
