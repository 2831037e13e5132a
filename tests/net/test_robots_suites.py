"""Public suites against our reading of robots.txt: every case that is not Google's own."""

import re
from collections import Counter

from bailiwick.net.robots import parse_robots
from tests.suites import SUITES, json_lines, suite_path


def path_of(url: str) -> str:
    return re.sub(r"^https?://[^/?#]*", "", url) or "/"


if suite_path("robots"):
    # Asked the same, Google's suite says no and protego's yes: is a path that was not percent-encoded encoded before it
    # is compared? RFC 9309 section 2.2.2 wants it so. The paths of our pages always are encoded.
    CONTRADICTED = {"g0061": "p0278", "g0063": "p0280"}

    def test_suites_agree() -> None:
        seen: Counter[str] = Counter()
        cases = {
            case["id"]: case
            for name in ("google", "protego")
            for case in json_lines(SUITES / "robots" / f"{name}.jsonl")
        }
        for number, case in cases.items():
            found = parse_robots(case["robots"].encode(), case["agent"])
            if "crawl_delay" in case:
                seen["delay"] += 1
                assert found.crawl_delay_seconds == case["crawl_delay"], case
            elif number in CONTRADICTED:
                seen["contradicted"] += 1
                other = cases[CONTRADICTED[number]]
                assert [other[key] for key in ("robots", "agent", "url")] == [
                    case[key] for key in ("robots", "agent", "url")
                ]
                assert other["allowed"] is not case["allowed"]
            elif case.get("google_only"):
                seen["Google only"] += 1
            else:
                seen["rule"] += 1
                assert found.allows(path_of(case["url"])) is case["allowed"], case
        assert seen == {"rule": 38 - 2 + 178, "contradicted": 2, "Google only": 25, "delay": 3}

    def test_real_sites_are_understood_as_googles_matcher_does() -> None:
        seen: Counter[str] = Counter()
        for site in json_lines(SUITES / "robots" / "real_sites.jsonl"):
            body = site["robots"].encode()
            of_agent = {agent: parse_robots(body, agent) for agent in {case["agent"] for case in site["cases"]}}
            all_denied = {agent for agent, found in of_agent.items() if found.denies_everything}
            for case in site["cases"]:
                found, path = of_agent[case["agent"]], path_of(case["url"])
                seen["allowed" if case["allowed"] else "denied"] += 1
                assert found.allows(path) is case["allowed"], (site["host"], case)
                assert (found.rule_for(path) is None) is case["allowed"], (site["host"], case)
                assert not case["allowed"] or case["agent"] not in all_denied, (site["host"], case)
            seen["no to all of us"] += parse_robots(body, "Bailiwick").denies_everything
        assert seen == {"allowed": 2_075, "denied": 4_449, "no to all of us": 11}
