"""What can be exported: each kind, where its rows come from, and what its columns mean.

A later kind is one more entry here and two more queries: its keys in order, and the rows of some of them.
"""

from dataclasses import dataclass
from enum import StrEnum

from bailiwick.model.transitions import CANDIDATE


class Type(StrEnum):
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TIME = "time"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type
    what: str


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of export: `walk` gives keys in order, `rows` what is exported of some of them."""

    name: str
    what: str
    walk: str
    rows: str
    columns: tuple[Column, ...]
    filters: frozenset[str]
    keys_at_once: int = 500
    """Fewer where a key may have thousands of rows."""
    statuses: tuple[str, ...] = ()
    """What --status takes."""


def _columns(lines: str) -> tuple[Column, ...]:
    parts = (line.split(maxsplit=2) for line in lines.strip().splitlines())
    return tuple(Column(name, Type(type_), what) for name, type_, what in parts)


_PAGES = _columns("""
url                   text     where the page is, at its domain's own origin
url_sha256            text     SHA-256 of the URL, in hex
domain                text     canonical name of its domain
path                  text     path and query: what identifies it there
state                 text     pending (due again), fetched or failed
status                integer  HTTP status of the last fetch
outcome               text     how the last fetch ended
content_type          text     media type as the server told it
depth                 integer  links from the home page
first_seen_at         time     when it became known
fetched_at            time     when it was last fetched
changed_at            time     when its body was last seen to differ
fetch_count           integer  how often it was fetched
change_count          integer  how often it had changed
is_noindex            boolean  it asks not to be indexed
body_hash             text     of the bytes last fetched, in hex
parse_outcome         text     parsed, or why there is no content
parsed_at             time     when it was last parsed
content_kind          text     html, pdf or text
title                 text     its title
description           text     what it says about itself
language              text     language of its text
author                text     who wrote it, if it says so
canonical             text     its rel=canonical
published_at          time     when it was published, if it says so
modified_at           time     when it was changed, if it says so
words                 integer  words of the main text
text                  text     the main text
markdown              text     the same with headings, lists and links; only where the profile asks for it
is_relevant           boolean  whether it is relevant by its profile
relevance             number   how relevant, 0 to 1
relevance_reason      text     why
relevance_source      text     what judged it
content_hash          text     of the content, in hex: noise does not move it
content_first_seen_at time     when this content was first seen here
content_last_seen_at  time     when it was last seen here
""")
_ITEMS = _columns("""
kind              text     article, business, contact, funding_programme, image, opportunity, product or service
position          integer  its place among those of its kind on the page
url               text     the page it was found on
url_sha256        text     SHA-256 of that URL, in hex
domain            text     canonical name of the domain
data              json     the item, by the schema of its kind
confidence        number   how sure the extractor is, 0 to 1
extractor         text     what found it
extractor_version integer  which version of that
content_hash      text     of its data, in hex
page_title        text     title of the page
language          text     language of the page
is_relevant       boolean  whether the page is relevant by its profile
first_seen_at     time     when it was first found
updated_at        time     when it last changed
fetched_at        time     when the page was last fetched
verified_at       time     when a person approved the candidate that it belongs to
""")
_PRODUCTS = _columns("""
url            text     the page that sells it
url_sha256     text     SHA-256 of that URL, in hex
domain         text     canonical name of the shop's domain
position       integer  its place among the products of the page
product_name   text     what it is called
description    text     what the page says about it
price          number   what it costs now
currency       text     in which currency, by ISO 4217; empty if the page does not say
availability   text     in_stock or out_of_stock; empty if nothing is known
rating         number   what people think of it, 0 to 5
review_count   integer  how many of them
brand          text     its brand
category       text     its category in the shop
sku            text     the shop's own number of it
metadata       json     everything else: codes, images, the way through the shop, other properties
confidence     number   how sure the extractor is, 0 to 1
parser         text     what found it
parser_version integer  which version of that
content_hash   text     of its data, in hex
created_at     time     when it was first found
updated_at     time     when its data last changed
gone_at        time     since when its page does not sell it any more
""")
_IMAGES = _columns("""
url              text     where the image is
page             text     the page that refers to it
page_sha256      text     SHA-256 of that page's URL, in hex
domain           text     canonical name of the page's domain
position         integer  its place among the page's images
image_type       text     primary, gallery or thumbnail
alt_text         text     what the page says it shows
found_in         text     src, srcset, picture, lazy or meta
discovery_type   text     discovery, or refresh: found when the page was fetched again
product_id       integer  number of the product that the page is about
outcome          text     stored, waiting, or why no image is kept; not_wanted: its profile fetches none
error            text     more about that
image_id         integer  number of the stored image
sha256           text     of its bytes, in hex
path             text     its file, under images/ in the data directory
mime             text     its type, by its bytes
width            integer  in pixels
height           integer  in pixels
file_size        integer  in bytes
perceptual_hash  text     64 bits in hex: few differ between images that look alike
first_seen_at    time     when the page was first seen to refer to it
last_seen_at     time     when it was last seen to
""")
_DOMAINS = _columns("""
domain           text     canonical name
site             text     the registrable domain it belongs to
base_url         text     the origin that is fetched, once it is known
approval         text     may we crawl it?
standing         text     is it worth it?
crawl            text     how far are we?
profile          text     what is looked for in it
is_trusted       boolean  whether it is trusted
source           text     the list it came with
seed_rank        integer  its rank there
priority_score   integer  the higher, the sooner it is crawled
pages_discovered integer  pages known
pages_crawled    integer  pages fetched
images_found     integer  images found
images_stored    integer  images stored
image_yield_rate number   stored images a page
error_rate       number   errors a fetch
review_reason    text     why it was decided so
block_reason     text     why it is blocked
blacklist_reason text     why it is blacklisted
reviewed_at      time     when it was decided on
first_seen_at    time     when it became known
last_crawled_at  time     when it was last crawled
next_crawl_after time     before that it rests
updated_at       time     when its record last changed
""")
_CANDIDATES = _columns("""
url                         text    where it was found to be
url_sha256                  text    SHA-256 of that URL, in hex
domain                      text    canonical name of its domain
id                          integer number of the candidate
session_id                  integer the discovery session that found it
status                      text    how far it is; approved and rejected are people's words
confidence_score            number  what judges made of it, 0 to 1
threshold                   number  from where on it is a candidate
title                       text    as the search engine gave it
snippet                     text    as the search engine gave it
engine                      text    the engine that ranked it best
query                       text    what that one was asked
position                    integer its place in the answer
found_by                    json    every engine, query and place
profile                     text    what was looked for
judge_scores                json    each judge's score, weight and explanation
reasoning                   text    what they say together
extracted_organization_name text    who is behind it, by its title
extracted_program_name      text    what it offers, by its title
programmes                  json    verified funding programmes: of its page, and of pages that are no candidates
contacts                    json    verified contacts: of the same pages
facts                       json    what the crawl found before anybody looked
reviewed_by                 text    who decided
reviewed_at                 time    when
review_notes                text    why
crawled_at                  time    when its page was crawled
found_at                    time    when it was found
""")
_EVALUATIONS = _columns("""
url                    text    what was evaluated
url_sha256             text    SHA-256 of that URL, in hex
domain                 text    canonical name of its domain
title                  text    its title
profile                text    by which it was evaluated
job_id                 integer the job that asked for it
confidence_score       number  what decided, 0 to 1
confidence_band        text    the band of that score at the time
action                 text    where the band leads: auto_approve, manual_review or reject
status                 text    approved, rejected, queue_overflow or waiting
reason                 text    who decided: band, trusted_domain, person or queue_full
reviewer_notes         text    why
decided_by             text    the person, if it was one
decided_at             time    when
queued_at              time    when it came into the review queue
is_stale               boolean whether it waited there for too long
reasoning              text    why the score is what it is
sophistication_signals json    the four scores of layer 3
layer1_results         json    what is known of the domain
layer2_results         json    what rules found on the page and its site
layer3_results         json    how sophisticated the page looks
layer3_by              text    who scored that
evidence               json    what findings rest on, by layer and name
evidence_confidence    number  the score by evidence alone
learned_probability    number  what the model learned from people says
model_id               integer which model
policy_version         text    which weights and thresholds
evaluated_at           time    when
""")
_BODIES = _columns("""
url         text    where the page is
fetched_at  time    when it was fetched
pack_id     integer where its body lies
pack_offset integer where its body lies
pack_length integer where its body lies
""")
KINDS = {
    kind.name: kind
    for kind in (
        Kind("pages", "pages fetched at least once, with their content now", "fetched_after", "export_pages", _PAGES,
             frozenset({"domain", "relevant"})),
        Kind("items", "items of pages' content now", "parsed_after", "export_items", _ITEMS,
             frozenset({"domain", "relevant", "kind"})),
        Kind("images", "references of pages to images, with what is kept of them", "parsed_after", "export_images",
             _IMAGES, frozenset({"domain", "relevant"}), 50),
        Kind("products", "products of shops, as their pages have them now", "parsed_after", "export_products",
             _PRODUCTS, frozenset({"domain"})),
        Kind("candidates", "finds of discovery; with --status approved the knowledge base", "candidates_after",
             "export_candidates", _CANDIDATES, frozenset({"domain", "status"}), 100, CANDIDATE.states),
        Kind("evaluations", "evaluated URLs, with what came of them", "evaluations_after", "export_evaluations",
             _EVALUATIONS, frozenset({"domain", "status"}), 100,
             ("approved", "rejected", "queue_overflow", "waiting")),
        Kind("domains", "domains, whatever their state", "domains_after", "export_domains", _DOMAINS,
             frozenset({"domain"})),
    )
}  # fmt: skip
BODIES = Kind("bodies", "stored answers of pages, for WARC", "fetched_after", "export_bodies", _BODIES, frozenset())
