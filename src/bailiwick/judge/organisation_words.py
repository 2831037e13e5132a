"""Words by which kinds of organisations show themselves, in titles and in host names."""

from bailiwick.model.profiles import OrganisationType as Type

SUFFIXES = {
    "gov": Type.GOVERNMENT, "mil": Type.GOVERNMENT, "europa.eu": Type.GOVERNMENT, "gc.ca": Type.GOVERNMENT,
    "bund.de": Type.GOVERNMENT, "admin.ch": Type.GOVERNMENT, "edu": Type.EDUCATION, "int": Type.INTERNATIONAL,
}  # fmt: skip
SECOND_LABELS = {
    "gov": Type.GOVERNMENT, "govt": Type.GOVERNMENT, "gob": Type.GOVERNMENT, "gouv": Type.GOVERNMENT,
    "gub": Type.GOVERNMENT, "go": Type.GOVERNMENT, "mil": Type.GOVERNMENT, "ac": Type.EDUCATION,
    "edu": Type.EDUCATION, "sch": Type.EDUCATION,
}  # fmt: skip
# First labels of hosts: what this part of an organisation does.
FIRST_LABELS = {
    "news": Type.MEDIA, "newsroom": Type.MEDIA, "today": Type.MEDIA, "press": Type.MEDIA, "media": Type.MEDIA,
    "blog": Type.BLOG, "blogs": Type.BLOG, "shop": Type.SHOP, "store": Type.SHOP, "jobs": Type.JOBS,
    "careers": Type.JOBS, "career": Type.JOBS, "forum": Type.FORUM, "forums": Type.FORUM, "community": Type.FORUM,
    "wiki": Type.REFERENCE, "docs": Type.REFERENCE, "help": Type.REFERENCE, "support": Type.REFERENCE,
    "kb": Type.REFERENCE, "podcast": Type.MEDIA, "podcasts": Type.MEDIA,
}  # fmt: skip
# First folders of paths, and folders anywhere in them.
FOLDERS = {
    "news": Type.MEDIA, "newsroom": Type.MEDIA, "press": Type.MEDIA, "story": Type.MEDIA, "stories": Type.MEDIA,
    "features": Type.MEDIA, "opinion": Type.MEDIA, "press-releases": Type.MEDIA, "article": Type.MEDIA,
    "articles": Type.MEDIA, "blog": Type.BLOG, "jobs": Type.JOBS, "careers": Type.JOBS, "job": Type.JOBS,
    "vacancy": Type.JOBS, "vacancies": Type.JOBS, "shop": Type.SHOP, "cart": Type.SHOP, "forum": Type.FORUM,
    "threads": Type.FORUM, "wiki": Type.REFERENCE, "docs": Type.REFERENCE, "donate": Type.FUNDRAISER,
    "pricing": Type.COMPANY, "podcast": Type.MEDIA, "courses": Type.COMPANY,
}  # fmt: skip
# The end of the registered name: ridgelandherald.com, dailyfinance.net. Only words that are rarely anything else.
NAME_ENDS = {
    Type.MEDIA: (
        "news herald gazette tribune times post daily observer chronicle courier journal telegraph sentinel dispatch "
        "bulletin examiner press wire magazine nachrichten zeitung gazet"
    ),
    Type.BLOG: "blog blogs diary musings",
    Type.SHOP: "shop store outlet direct mart deals coupons",
    Type.JOBS: "jobs careers hiring recruit vacancies jobboard",
    Type.FINANCE: "loans loan lending mortgage mortgages credit bank capital insurance finance funds ventures etf",
    Type.FOUNDATION: "foundation stiftung fondation fundacion fundacao stichting trust fund fonds",
    Type.EDUCATION: "university college school academy universiteit universität",
    Type.FORUM: "forum forums",
    Type.REFERENCE: "wiki pedia encyclopedia",
    Type.ASSOCIATION: "society association alliance federation council institute",
    Type.FUNDRAISER: "fundraiser fundraisers fundraising giving",
}  # fmt: skip
# Words of titles. In `X | Y` the part that names the organisation counts like any other.
TITLE_WORDS = {
    Type.FOUNDATION: "foundation trust endowment stiftung fondation fundación fundação fondazione stichting",
    Type.GOVERNMENT: (
        "ministry department council agency commission bureau ministerium ministère ministerio government federal "
        "municipality"
    ),
    Type.RESEARCH: "institute institut academy akademie laboratory",
    Type.EDUCATION: "university college universität université universidad faculty",
    Type.ASSOCIATION: "society association alliance federation conservancy network initiative",
    Type.JOBS: "vacancy vacancies hiring careers recruitment",
    Type.FORUM: "thread forum replies",
}  # fmt: skip
