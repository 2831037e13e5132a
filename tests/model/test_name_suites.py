"""Public suites against our names and URLs; every test states to how many cases it was applied.

The expected answers are the suites' own, put through the rules that the docstrings of `model.names` and
`model.urls` add to the browsers' (`governed` and `tidied` below say them once more, in other words).
"""

import json
import re
from collections import Counter

import pytest

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.names import DomainName
from bailiwick.model.urls import LinkJoiner, PageUrl, UrlRules
from tests.suites import SUITES, json_lines, suite_path

ANYWHERE = UrlRules(allow_private=True)


def named(text: str, *, allow_private: bool = True) -> DomainName | None:
    try:
        return DomainName.parse(text, allow_private=allow_private)
    except NameRefusedError:
        return None


def paged(text: str, base: str | None = None, *, rules: UrlRules = ANYWHERE) -> PageUrl | None:
    try:
        return PageUrl.parse(text, base, rules=rules)
    except NameRefusedError:
        return None


def governed(host: str) -> str | None:
    """The canonical name of a host and port that browsers accept; None where DNS could not hold it."""
    if host.startswith("["):
        return re.sub(r":(80|443)$", "", host)
    name, _, port = host.partition(":")
    name = name.removesuffix(".")
    labels_fit = all(re.fullmatch(r"[a-z0-9_-]{1,63}", label) for label in name.split("."))
    if not labels_fit or len(name) > 253 or port == "0":
        return None
    name = name.removeprefix("www.")  # no case has a public suffix behind it
    return name if port in ("", "80", "443") else f"{name}:{port}"


def tidied(target: str) -> str:
    """The identity of a path and query that browsers send."""

    def tidy(found: re.Match[str]) -> str:
        char = chr(int(found[1], 16))
        return char if re.match(r"[A-Za-z0-9._~-]", char) else found[0].upper()

    return re.sub(r"%([0-9A-Fa-f]{2})", tidy, target)


if suite_path("url"):

    @pytest.mark.parametrize(
        ("suite", "accepted", "not_dns", "refused"), [("toascii", 27, 6, 8), ("idna_test_v2", 679, 98, 543)]
    )
    def test_hosts_become_ascii_as_browsers_have_it(suite: str, accepted: int, not_dns: int, refused: int) -> None:
        seen: Counter[str] = Counter()
        for case in json_lines(SUITES / "url" / f"{suite}.jsonl"):
            expected = None if case["output"] is None else governed(case["output"])
            seen["refused" if case["output"] is None else "accepted" if expected else "not_dns"] += 1
            name = named(f"https://{case['input']}/x")
            assert (name and name.name) == expected, case
        assert seen == {"accepted": accepted, "not_dns": not_dns, "refused": refused}

    def test_links_lead_where_browsers_go() -> None:
        seen: Counter[str] = Counter()
        for case in json_lines(SUITES / "url" / "urltestdata.jsonl"):
            page = paged(case["input"], case["base"] or "about:blank")
            if case.get("failure"):
                seen["failure"] += 1
                assert page is None, case
            elif case["protocol"] not in ("http:", "https:"):
                seen["other scheme"] += 1
                assert page is None, case
            elif (domain := governed(case["host"])) is None:
                seen["not dns"] += 1
                assert page is None, case
            else:
                seen["page"] += 1
                path = tidied(case["pathname"] + case["search"])
                assert page == PageUrl(DomainName(domain), path), case
        assert seen == {"page": 125, "not dns": 2, "other scheme": 193, "failure": 149}

    def test_typed_urls_are_read_like_links() -> None:
        applied = 0
        for case in json_lines(SUITES / "url" / "urltestdata.jsonl"):
            absolute = re.match(r"https?:", case["input"], re.IGNORECASE)
            if case["base"] is None and absolute and not re.search(r"[\x00-\x1f\x7f]", case["input"]):
                applied += 1
                assert paged(case["input"]) == paged(case["input"], "about:blank"), case
        assert applied == 123

    def test_sites_follow_the_public_suffix_list() -> None:
        seen: Counter[str] = Counter()
        for line in (SUITES / "url" / "psl_tests.txt").read_text(encoding="utf-8").splitlines():
            text, expected = line.split(" ")
            domain = named(text)
            if expected != "null":
                seen["registrable"] += 1
                assert domain
                assert domain.site == expected.encode("idna").decode(), line
            elif text.startswith("."):
                seen["refused"] += 1
                assert domain is None, line
            else:
                seen["suffix"] += 1
                assert domain
                assert domain.site == domain.host == text.lower().encode("idna").decode(), line
        assert seen == {"registrable": 23, "refused": 3, "suffix": 14}


if suite_path("hostile"):

    def test_odd_spellings_of_ipv4_are_the_address() -> None:
        seen: Counter[str] = Counter()
        for text, expected in json.loads((SUITES / "hostile" / "funky_ipv4.json").read_text()).items():
            seen["address" if expected else "no address"] += 1
            for spelling in (text, f"http://{text}", f"//{text}:8080/x"):
                assert named(spelling, allow_private=False) is None, spelling
                domain = named(spelling)
                if expected:
                    assert domain, spelling
                    assert (domain.host, domain.is_address) == (expected, True), spelling
                    assert domain.shared_key == domain.site == expected
                else:  # refused, or a word of a private network: 0000xa
                    assert domain is None or not domain.is_address, spelling
        assert seen == {"address": 31, "no address": 16}

    def test_no_hostile_url_becomes_an_address_unasked() -> None:
        cases = json_lines(SUITES / "hostile" / "ssrf_urls.jsonl")
        meanings = 0
        for case in cases:
            pages = paged(case["url"], rules=UrlRules()), paged(case["url"], "https://example.org/", rules=UrlRules())
            for page in filter(None, pages):
                assert not page.domain.is_address, case
                assert page.domain.host != "localhost", case
            if "means" in case:
                meanings += 1
                assert named(case["url"]) in (None, named(case["means"])), case
        assert (len(cases), meanings) == (221, 5)

    def test_naughty_strings_are_refused_or_round_trip() -> None:
        seen: Counter[str] = Counter()
        joiner = LinkJoiner(ANYWHERE)
        for text in (case["s"] for case in json_lines(SUITES / "hostile" / "naughty_strings.jsonl")):
            for allow_private in (False, True):
                domain = named(text, allow_private=allow_private)
                seen[f"named, {allow_private=}" if domain else "refused"] += 1
                assert domain is None or named(domain.name) == domain
                assert domain is None or domain.warnings is not None
            typed = paged(text)
            assert typed is None or paged(str(typed)) == typed
            link = paged(text, "https://example.org/a/b?c")
            assert link is None or paged(str(link)) == link
            joined = joiner.page_urls("https://example.org/a/b?c", [text])
            # A link to the base itself is no news to a crawler: the joiner leaves it out.
            assert joined == ([(link.domain.name, link.path)] if link and text.partition("#")[0] else [])
        assert seen.total() == 2 * 257
        assert seen["named, allow_private=False"] == 2
        assert seen["named, allow_private=True"] > 30
