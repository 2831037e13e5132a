"""Layers as numbers."""

from math import log1p

from bailiwick.model.layers import BrokenLinks, ContentQuality, DomainAge, Flag, ThinContent
from bailiwick.model.signals import SIGNAL_NAMES, signals_of
from tests.review.tools import LAYER1, LAYER2, LAYER3


def test_what_passed_was_found_was_counted_and_was_not_checked() -> None:
    found = signals_of(LAYER1, LAYER2, LAYER3)
    assert tuple(found) == SIGNAL_NAMES
    assert len(SIGNAL_NAMES) == 21
    assert {name: found[name] for name in ("domain_age", "tld_type", "registrar_reputation", "ssl_certificate")} == {
        "domain_age": 1.0,
        "tld_type": 0.0,
        "registrar_reputation": None,
        "ssl_certificate": 1.0,
    }
    assert (found["contact_page"], found["author_bio"], found["excessive_ads"]) == (1.0, 0.0, None)
    assert (found["log_age_days"], found["log_word_count"], found["broken_link_count"]) == (log1p(365), log1p(812), 1.0)
    assert {name: found[name] for name in LAYER3.scores()} == LAYER3.scores()


def test_what_is_not_known_is_no_number() -> None:
    ageless = LAYER1.model_copy(update={"domain_age": DomainAge()})
    content = ContentQuality(thin_content=ThinContent(), excessive_ads=Flag(), broken_links=BrokenLinks())
    found = signals_of(ageless, LAYER2.model_copy(update={"content_quality": content}), LAYER3)
    assert [found[name] for name in ("domain_age", "log_age_days", "thin_content", "log_word_count")] == [None] * 4
    assert (found["broken_links"], found["broken_link_count"]) == (None, None)
