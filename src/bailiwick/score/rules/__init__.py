"""Layer 2: a page and its site in; six flags, three checks of content, and what each rests on out. Pure.

assess      all of it together, and which parts could not be checked
flags       the six flags over addresses, titles, headings, links and running text
authors     who wrote the page: structured data, bylines, boxes about the author
refusing    sentences that say the opposite, quote it, or write about it
content     thin content and broken links
ads         the share of elements that are advertisements
markup      the page's HTML, walked once, within limits
addresses   what an address says about the page behind it
linking     which links to look at: likely pages for a probe, links to check
phrasebook  words and phrases of twelve languages, from `phrases/*.toml`
proving     what a finding rests on, as it is stored
actions     addresses that are never asked for
shipped     the lists in the package's files
wording     text as folded words that know where they stand
"""

from bailiwick.score.rules.assess import assess_rules
from bailiwick.score.rules.linking import likely_pages, links_to_check

__all__ = ["assess_rules", "likely_pages", "links_to_check"]
