"""What several extractors want to know of a page: its country, whose site it is, how it is reached, who is meant."""

import re
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bailiwick.extract.items.addresses import PostalAddress, find_addresses, read_address
from bailiwick.extract.items.deadlines import Deadline, find_deadline
from bailiwick.extract.items.lines import Line, Zone
from bailiwick.extract.items.names import page_heading, site_name
from bailiwick.extract.items.pairs import Pair
from bailiwick.extract.items.reach import Mark, is_credit, read_marks
from bailiwick.extract.structured import Thing
from bailiwick.model.countries import country_code, country_of_host, country_of_language

if TYPE_CHECKING:
    from bailiwick.extract.items.source import Source

ELIGIBILITY = re.compile(
    r"^who\??$|who (?:can|may|is|qualifies|should|we help)|whom? it is for|who it is for|eligib|am i eligible|"
    r"can i use|"
    r"for whom|target group|age group|audience|antragsberechtigt|wer (?:kann|wird|darf)|^wer$|für wen|zielgruppe|"
    r"voraussetzung|"
    r"bénéficiaires?|qui peut|éligibilité|^public(?: concerné)?$|beneficiari|requisitos|quién (?:puede|va)|a quién|"
    r"destinatari|"
    r"voor wie|voorwaarden|doelgroep",
)
_ELIGIBLE_SENTENCE = re.compile(
    r"applicants? (?:must|should|need)|may apply|can apply|are eligible|is eligible|eligible applicants|"
    r"open to (?:all|any)|"
    r"you (?:must|need to) be|you can (?:join|apply|use)|antragsberechtigt|können sich bewerben|peuvent candidater|"
    r"podrán|kunnen een aanvraag|"
    r"to be eligible|richtet sich an",
)
_ELIGIBLE_PARTS = (
    *("applicant", "may apply", "can apply", "eligible", "open to a", "you must be", "you need to be"),
    *("you can join", "you can apply", "you can use"),
    *("antragsberechtigt", "können sich bewerben", "peuvent candidater", "podrán", "kunnen een aanvraag"),
    "richtet sich an",
)
"""One of these is in each such sentence."""
_NOT_ELIGIBLE_LABEL = re.compile(r"who (?:we are|are we)|why|pays?\b|decid|jury")
_ARTICLES_AND_GOODS_TEXT = """
    Product ProductGroup IndividualProduct NewsArticle BlogPosting ReportageNewsArticle LiveBlogPosting
    OpinionNewsArticle Recipe VideoObject
"""
_ARTICLES_AND_GOODS = frozenset(_ARTICLES_AND_GOODS_TEXT.split())
_MOST_ELIGIBILITY = 1_200
_MOST_DESCRIPTION = 1_000


class Facts:
    """Each is found when it is first asked for."""

    def __init__(self, source: "Source") -> None:
        self._source = source

    @cached_property
    def country(self) -> str | None:
        """Where the page speaks from; American where its numbers and addresses are."""
        source = self._source
        known = country_of_host(source.host)
        if known is None:
            for thing in source.things[:20]:
                for inner in [thing, *thing.things("address", "location")]:
                    known = known or country_code(inner.text("addressCountry"))
        if known is None:
            tag = source.tree.get("lang") or source.content.language
            known = country_of_language(tag)
        if known is None:
            address = next(iter(find_addresses(source.lines, None, most=1)), None)
            known = address.country if address else None
        return known

    @cached_property
    def is_month_first(self) -> bool:
        return self.country == "US" or (self.country is None and (self._source.content.language or "en") == "en")

    @cached_property
    def site(self) -> tuple[str, float] | None:
        return site_name(self._source)

    @cached_property
    def heading(self) -> str | None:
        return page_heading(self._source)

    @cached_property
    def addresses(self) -> list[PostalAddress]:
        return find_addresses(self._source.lines, self.country)

    @cached_property
    def own_addresses(self) -> list[PostalAddress]:
        """Without those of others; what stands in the matter comes first."""
        lines = self._source.lines
        own = [one for one in self.addresses if not is_credit(lines, one.at)]
        return sorted(own, key=lambda one: lines[one.at].zone is not Zone.MAIN)

    @cached_property
    def marks(self) -> list[Mark]:
        return read_marks(self._source.lines, self._source.host, self.country)

    @cached_property
    def is_article_or_product(self) -> bool:
        """By what the page says of itself: news and goods are neither services nor posts."""
        types = {name for thing in self._source.things[:50] for name in thing.types}
        if types & _ARTICLES_AND_GOODS or self._source.meta.get("og:type", "").lower() in (
            "product",
            "og:product",
            "product.item",
        ):
            return True
        content = self._source.content
        return content.author is not None and content.published_at is not None

    @cached_property
    def words(self) -> frozenset[str]:
        """Words of the matter, its title and its address, each once."""
        text = f"{self.main_words} {(self._source.content.title or '').casefold()} {self.path}"
        return frozenset(re.findall(r"\w{3,}", text))

    @cached_property
    def deadline(self) -> Deadline | None:
        return find_deadline(self._source.lines, self._source.pairs, is_month_first=self.is_month_first)

    @cached_property
    def eligibility(self) -> tuple[str, float] | None:
        return find_eligibility(self._source.lines, self._source.pairs)

    @cached_property
    def description(self) -> tuple[str, float] | None:
        """The page's own summary, else its first sentences."""
        meta = self._source.meta
        given = meta.get("description") or meta.get("og:description")
        if given and len(given) > 20:
            return given[:_MOST_DESCRIPTION], 0.8
        return find_description(self._source.lines, self.heading)

    @cached_property
    def main_words(self) -> str:
        """The matter in lower case, for counting words in it."""
        return " ".join(line.text for line in self._source.lines if line.zone is Zone.MAIN)[:12_000].casefold()

    @cached_property
    def path(self) -> str:
        return urlsplit(self._source.url).path.casefold()


def find_eligibility(lines: list[Line], pairs: list[Pair]) -> tuple[str, float] | None:
    """Who may apply, in the page's words."""
    best: tuple[float, str] | None = None
    for pair in pairs:
        if pair.zone is not Zone.MAIN or not ELIGIBILITY.search(pair.label) or _NOT_ELIGIBLE_LABEL.search(pair.label):
            continue
        value = pair.value.strip()
        if len(value) < 12 or re.fullmatch(r"[\d\s.,€£$%-]+", value):
            continue
        score = 1.0 * pair.is_structural + min(1.0, 12 / max(1, len(pair.label))) + (0.5 if len(value) > 30 else 0)
        if best is None or score > best[0]:
            best = (score, value)
    if best is not None:
        return best[1][:_MOST_ELIGIBILITY], 0.85
    for line in _speaking_of_it(lines):
        if _ELIGIBLE_SENTENCE.search(line[:1_000].casefold()):
            for sentence in re.split(r"(?<=[.!?])\s+", line[:1_000]):
                if _ELIGIBLE_SENTENCE.search(sentence.casefold()):
                    return sentence, 0.6
    return None


def _speaking_of_it(lines: list[Line]) -> list[str]:
    """Lines of the matter; none, where no word in any of them says who may apply."""
    matter = [line.text for line in lines if line.zone is Zone.MAIN and not line.level]
    whole = "\n".join(matter).casefold()
    return matter if any(part in whole for part in _ELIGIBLE_PARTS) else []


def find_description(lines: list[Line], heading: str | None) -> tuple[str, float] | None:
    """The first paragraph below the heading that is one."""
    at = next((at for at, line in enumerate(lines) if line.text == heading and line.zone is not Zone.NAV), 0)
    for line in lines[at : at + 25]:
        is_prose = line.zone is Zone.MAIN and not line.level and line.tag not in ("dd", "td", "li")
        if is_prose and len(line.text) >= 40 and " " in line.text:
            if re.match(r"^(?:published|posted|updated|publié|veröffentlicht|from)\b", line.text, re.IGNORECASE):
                continue
            return line.text[:_MOST_DESCRIPTION], 0.7
    return None


def address_of(thing: Thing, country: str | None) -> dict[str, str] | None:
    """The address of a thing that is described by markup."""
    for value in thing.all("address", "location"):
        if isinstance(value, Thing):
            inner = next(iter(value.things("address")), value)
            code = country_code(inner.text("addressCountry")) or country
            fields = {
                "streetAddress": inner.text("streetAddress"),
                "addressCity": inner.text("addressLocality"),
                "addressRegion": inner.text("addressRegion"),
                "postalCode": inner.text("postalCode"),
                "addressCountry": code,
            }
            kept = {name: " ".join(text.split()) for name, text in fields.items() if text}
            if len(kept) > 1:
                raw = [kept.get(name) for name in ("streetAddress", "postalCode", "addressCity")]
                return {"addressRaw": ", ".join(part for part in raw if part)} | kept
            text = inner.text("address", "name")
        else:
            text = value
        if text and len(text) > 8:
            read = read_address(text, country)
            return read.fields if read else {"addressRaw": " ".join(text.split())[:400]}
    return None
