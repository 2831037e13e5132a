"""A small page with everything that layer 3 looks for, and pages made of it."""

from bailiwick.model.material import PageMaterial

URL = "https://paper.example.org/stories/bees"
SENTENCES = (
    "Bees on the roofs of the city made more honey this year than those in the fields around it.",
    "The survey counted four hundred hives between March and September, on nineteen public buildings.",
    "Nobody had expected such a difference, and the keepers were careful to weigh each frame twice.",
    "Lime trees in the older streets flower for six weeks, while the rape outside is gone in two.",
    "A second look at the figures of 2019 showed the same pattern, though the summer had been wetter.",
    "The council now pays for water basins, so that swarms do not settle at the drinking fountains.",
    "Critics say that wild bees are pushed aside where too many hives stand close together.",
    "A limit of ten hives for each square kilometre is to be voted upon before the next season.",
)
TEXT = "\n\n".join(SENTENCES)
HTML = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Bees of the city</title>
<meta name="description" content="What the hives on our roofs gave this year.">
<meta name="viewport" content="width=device-width"><meta name="author" content="Ada Lovelace">
<meta property="og:title" content="Bees of the city"><meta property="og:image" content="/bees.jpg">
<link rel="canonical" href="{URL}"><link rel="stylesheet" href="/site.css"><link rel="icon" href="/icon.png">
<style>body {{ font-family: Georgia, serif; line-height: 1.5 }} @media (max-width: 40em) {{ nav {{ display: none }} }}
main {{ margin: auto; max-width: 40em }}</style>
<script type="application/ld+json">{{"@type": "NewsArticle", "datePublished": "2024-05-01",
"dateModified": "2024-05-02", "author": {{"@type": "Person", "name": "Ada Lovelace", "url": "/people/ada"}},
"publisher": {{"@type": "Organization", "name": "The Paper"}}}}</script></head>
<body><header><nav><a href="/a">A</a><a href="/b">B</a><a href="/c">C</a><a href="/d">D</a></nav></header>
<main><article><h1>Bees of the city</h1><p class="byline">By Ada Lovelace</p>
{"".join(f"<p>{sentence}</p>" for sentence in SENTENCES)}
<p>The figures are from <a href="https://data.gov.uk/hives">the register</a>,
<a href="https://doi.org/10.1/x">a study</a> and <a href="https://keepers.test/">the keepers</a>.</p>
<img src="/bees.jpg" alt="Bees" width="640" height="480" srcset="/bees2.jpg 2x"></article></main>
<footer><a href="/contact">Contact</a><a href="/about-us">About us</a><a href="/imprint">Imprint</a>
<a href="mailto:ada@example.org">ada@example.org</a></footer></body></html>"""


def page(html: str = HTML, text: str = TEXT, **more: object) -> PageMaterial:
    return PageMaterial(URL, html, text, "Bees of the city", "en", **more)  # type: ignore[arg-type]
