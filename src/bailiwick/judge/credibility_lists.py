"""Suffixes and names that tell something of who is behind a host. General knowledge, no single source of results."""

# Who may register here is checked by somebody.
GUARDED_SUFFIXES = {
    "gov": 0.9, "mil": 0.85, "int": 0.9, "edu": 0.8, "museum": 0.75, "europa.eu": 0.95, "gc.ca": 0.9, "gov.uk": 0.9,
    "gouv.fr": 0.9, "bund.de": 0.9, "admin.ch": 0.9, "gob.es": 0.9, "nhs.uk": 0.85, "un.org": 0.9,
}  # fmt: skip
# Second-level labels under a country's code: gov.au, ac.uk, edu.sg, gob.mx, go.jp.
GUARDED_LABELS = {
    "gov": 0.9, "govt": 0.9, "gob": 0.9, "gouv": 0.9, "gub": 0.9, "go": 0.85, "mil": 0.85, "ac": 0.8, "edu": 0.8,
    "sch": 0.75, "nhs": 0.85, "police": 0.85, "parliament": 0.9,
}  # fmt: skip
CHEAP_SUFFIXES = frozenset(
    (
        "xyz", "top", "click", "loan", "loans", "win", "bid", "work", "gq", "cf", "tk", "ml", "ga", "icu", "cyou",
        "buzz", "rest", "monster", "quest", "cam", "date", "racing", "review", "stream", "trade", "party", "science",
        "download", "accountant", "faith", "men", "surf", "sbs", "cfd", "bond", "beauty", "hair", "skin",
        "makeup", "mom", "lol",
        "casino", "bet", "poker", "vip", "zip", "mov", "kim", "link", "ooo", "uno", "gdn", "wang", "ren",
    )
)  # fmt: skip
# Addresses for an hour: link shorteners, throw-away mail, quick tunnels.
DISPOSABLE_SITES = frozenset(
    (
        "bit.ly", "tinyurl.com", "t.co", "goo.gl", "ow.ly", "is.gd", "cutt.ly", "rb.gy", "shorturl.at", "rebrand.ly",
        "mailinator.com", "guerrillamail.com", "10minutemail.com", "temp-mail.org", "yopmail.com", "ngrok.io",
        "ngrok-free.app", "trycloudflare.com", "pastebin.com", "linktr.ee", "adf.ly",
    )
)  # fmt: skip
FREE_HOSTS = frozenset(
    (
        "blogspot.com", "wordpress.com", "wixsite.com", "weebly.com", "tumblr.com", "medium.com", "substack.com",
        "github.io", "gitlab.io", "netlify.app", "vercel.app", "pages.dev", "herokuapp.com", "webflow.io",
        "sites.google.com", "docs.google.com", "facebook.com", "twitter.com", "linkedin.com", "reddit.com",
        "quora.com", "pinterest.com", "youtube.com", "tiktok.com", "instagram.com", "issuu.com",
        "scribd.com", "slideshare.net", "godaddysites.com", "squarespace.com", "livejournal.com",
    )
)  # fmt: skip
# As a part of the name between hyphens: "free" is in many good names, "free-grants" in none.
SPAM_WORDS = frozenset(
    (
        "cheap", "free", "viagra", "payday", "essay", "slots", "bitcoin", "earn", "claim", "prize", "winner", "replica",
        "backlink", "backlinks", "seo", "quickcash", "getrich", "4u", "4you", "forex", "xxx", "casino", "instant",
    )
)  # fmt: skip
SPAM_ANYWHERE = ("casino", "viagra", "payday", "replicawatch", "xxxporn", "essaywriting", "backlinks")
