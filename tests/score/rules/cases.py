# ruff: noqa: RUF001 - Bulgarian, and apostrophes as they are printed
"""Labelled pages: what stands on them, and whether a flag is there. Written by us, after what real sites have.

Each case is one flag's: the other flags of its page are not labelled.
"""

from dataclasses import dataclass

from bailiwick.model.material import PageMaterial, SiteMaterial
from tests.score.rules.pages import FILLER, HOME, page_of, site_of


@dataclass(frozen=True, slots=True)
class Case:
    flag: str
    is_there: bool
    language: str
    html: str = FILLER
    url: str = HOME
    pages: tuple[tuple[str, str, str], ...] = ()
    kinds: tuple[str, ...] = ()

    def material(self) -> tuple[PageMaterial, SiteMaterial]:
        page = page_of(self.html, url=self.url, language=self.language, kinds=self.kinds)
        return page, site_of(*self.pages)

    @property
    def name(self) -> str:
        return f"{self.language} {self.flag}: {(self.html + self.url if self.html == FILLER else self.html)[-90:]}"


def linked(flag: str, is_there: bool, *rows: str) -> list[Case]:
    """Rows of `language | address | words of the link`, in the menu of an article."""
    cases = []
    for row in rows:
        language, address, words = (part.strip() for part in row.split("|"))
        html = f'<nav><a href="/">Home</a><a href="{address}">{words}</a></nav><main>{FILLER}</main>'
        cases.append(Case(flag, is_there, language, html))
    return cases


def said(flag: str, is_there: bool, *rows: str) -> list[Case]:
    """Rows of `language | sentence`, in the text of an article that has links."""
    cases = []
    for row in rows:
        language, sentence = (part.strip() for part in row.split("|"))
        html = f'<nav><a href="/">Home</a></nav><main>{FILLER}<p>{sentence}</p>{FILLER}</main>'
        cases.append(Case(flag, is_there, language, html))
    return cases


def itself(flag: str, is_there: bool, *rows: str) -> list[Case]:
    """Rows of `language | address | title`, of the page itself."""
    cases = []
    for row in rows:
        language, address, title = (part.strip() for part in row.split("|", 2))
        html = f'<title>{title}</title><nav><a href="/">Home</a></nav><main>{FILLER}</main>'
        cases.append(Case(flag, is_there, language, html, url=f"https://acme.example{address}"))
    return cases


def marked(is_there: bool, *rows: str, kinds: tuple[str, ...] = ()) -> list[Case]:
    """Rows of `language | markup`, of an article: author_bio."""
    cases = []
    for row in rows:
        language, markup = (part.strip() for part in row.split("|", 1))
        html = f'<nav><a href="/">Home</a></nav><main><h1>Harvest</h1>{FILLER}{markup}</main>'
        cases.append(Case("author_bio", is_there, language, html, kinds=kinds))
    return cases


def known(flag: str, is_there: bool, language: str, path: str, title: str, text: str) -> Case:
    return Case(flag, is_there, language, f'<a href="/">Home</a>{FILLER}', pages=((path, title, text),))


_PERSON = '"author":{"@type":"Person","name":"Ada Byron"%s}'
_ARTICLE = '<script type="application/ld+json">{"@type":"BlogPosting","headline":"x",%s}</script>'

CASES: tuple[Case, ...] = (
    *linked(
        "contact_page", True,
        "en | /contact | Contact",
        "en | /contact-us/ | Contact us",
        "en | /about/contact.html | Questions?",
        "en | /p/17 | Get in touch",
        "en | /index.php?page=contact | Write",
        "en | /ContactUs.aspx | Reach us",
        "en | /en/contact/form | Send a message",
        "de | /kontakt | Kontakt",
        "de | /service/kontaktformular | Kontaktformular",
        "fr | /nous-contacter | Nous contacter",
        "es | /contacto | Contacto",
        "es | /p/3 | Contáctanos",
        "it | /contatti | Contatti",
        "pt | /fale-conosco | Fale conosco",
        "nl | /neem-contact-op | Neem contact op",
        "pl | /skontaktuj-sie-z-nami | Skontaktuj się z nami",
        "sv | /kontakta-oss | Kontakta oss",
        "da | /kontakt-os | Kontakt os",
        "cs | /kontaktujte-nas | Kontaktujte nás",
        "bg | /za-kontakti | За контакти",
        "bg | /p/5 | Свържете се с нас",
    ),
    *itself("contact_page", True, "en | /reach | Contact us | Acme", "fr | /form | Acme - Formulaire de contact"),
    known("contact_page", True, "en", "/contact", "Acme", "Our office is open from nine to five."),
    *linked(
        "contact_page", False,
        "en | /contact-lenses/ | Contacts",
        "en | /shop/contact-lenses | Contact lenses",
        "en | /blog/first-contact-with-the-tribe | First contact",
        "en | mailto:office@acme.example | Contact us",
        "en | tel:+4912345 | Contact",
        "en | /tag/contact | contact",
        "en | /docs/api/contact | Contact object",
        "en | https://other.example/contact | Contact",
        "en | /reviews/contact | Contact (1997)",
        "en | /blog/eye-contact-in-interviews | Eye contact",
        "en | /news/contact-tracing | Contact tracing",
        "en | /login | Contact us",
        "de | /kontaktlinsen | Kontaktlinsen",
        "fr | /paiement-sans-contact | Paiement sans contact",
        "nl | /contactlenzen | Contactlenzen",
    ),
    *said("contact_page", False, "en | You may contact us at any hour, the old farmer said, and never did."),
    *itself("contact_page", False, "en | /blog/2026/03/how-we-lost-contact | How we lost contact with the probe"),

    *linked(
        "pricing_page", True,
        "en | /pricing | Pricing",
        "en | /plans-and-pricing/ | Plans &amp; Pricing",
        "en | /p/9 | Rate card",
        "en | /advertise/rates | Rates",
        "en | /guest-post-pricing | Guest post pricing",
        "de | /preise | Preise",
        "de | /mediadaten | Mediadaten",
        "fr | /tarifs | Nos tarifs",
        "es | /planes-y-precios | Planes y precios",
        "it | /listino-prezzi | Listino prezzi",
        "pt | /precos | Preços",
        "nl | /tarieven | Tarieven",
        "pl | /cennik | Cennik",
        "sv | /priser | Priser",
        "da | /prisliste | Prisliste",
        "cs | /cenik | Ceník",
        "bg | /tsenorazpis | Ценоразпис",
    ),
    *itself("pricing_page", True, "en | /plans | Pricing - Acme"),
    *linked(
        "pricing_page", False,
        "en | /blog/pricing-strategies-for-startups | pricing",
        "en | /house-prices | House prices",
        "en | /shop?sort=price | Price",
        "en | /tag/pricing | pricing",
        "en | /2026/01/pricing | Pricing",
        "en | /news/gold-prices-today | Gold prices",
        "en | /interest-rates | Interest rates",
        "en | https://other.example/pricing | Pricing",
        "en | /docs/pricing | Pricing object",
        "en | /prizes | Prizes",
        "de | /strompreise | Strompreise",
        "de | /nobelpreise | Nobelpreise",
        "nl | /prijzen-gewonnen | Prijzen gewonnen",
    ),
    *said("pricing_page", False, "en | Pricing is hard, and our pricing was no better than theirs."),

    *linked(
        "submit_content", True,
        "en | /submit-an-article | Submit an article",
        "en | /p/2 | Submit your guest post",
        "en | /article-submission/ | For authors",
        "en | https://forms.gle/abc123 | Submit your story",
        "en | /submit | Submit a tutorial",
        "de | /artikel-einreichen | Artikel einreichen",
        "de | /gastbeitrag-einreichen | Gastbeitrag einreichen",
        "fr | /proposer-un-article | Proposer un article",
        "es | /enviar-articulo | Enviar artículo",
        "it | /invia-articolo | Invia un articolo",
        "pt | /enviar-artigo | Enviar artigo",
        "nl | /artikel-insturen | Artikel insturen",
        "pl | /wyslij-artykul | Wyślij artykuł",
        "sv | /skicka-in-artikel | Skicka in en artikel",
        "da | /indsend-artikel | Indsend artikel",
        "cs | /poslat-clanek | Poslat článek",
        "bg | /izprati-statiya | Изпрати статия",
    ),
    *said(
        "submit_content", True,
        "en | Have something to say? Send us your article and we will be in touch.",
        "de | Haben Sie etwas zu sagen? Senden Sie uns Ihren Beitrag.",
        "es | ¿Tienes una idea? Envíanos tu artículo por correo.",
    ),
    Case("submit_content", True, "en", f'<a href="/">Home</a>{FILLER}<form><button>Submit article</button></form>'),
    known("submit_content", True, "en", "/submissions", "Submissions", "We read every story that writers send us."),
    *linked(
        "submit_content", False,
        "en | /support/new | Submit a ticket",
        "en | /submit-request | Submit a request",
        "en | /submit | Submit",
        "en | /careers/submit | Submit your resume",
        "en | /publishing | Self-publish with us",
        "en | https://other.example/submit-an-article | Submit an article",
        "en | /submit-story | Send us a tip",
        "en | /docs/submit-sitemap | Submit your sitemap",
        "de | /antrag-einreichen | Antrag einreichen",
        "de | /rechnung-einreichen | Rechnung einreichen",
        "pl | /zamowienie | Wyślij zamówienie",
    ),
    *said(
        "submit_content", False,
        "en | Students must submit an article to the court before the hearing.",
        "en | Please do not submit guest posts.",
        "en | Search for “submit a guest post” and your topic.",
        "en | You can submit your article to the journal for peer review.",
        "de | Bitte senden Sie uns Ihren Beitrag nicht.",
    ),

    *linked(
        "write_for_us", True,
        "en | /write-for-us | Write for us",
        "en | /p/4 | Become a contributor",
        "en | /blog/guest-post | Guest post",
        "en | /writeforus.html | For authors",
        "en | /write-for-acme | Join in",
        "en | /contributor-program | Contributor program",
        "en | https://acme.typeform.com/to/x1 | Write for us",
        "en | /contribute | Write an article for our readers",
        "de | /schreiben-sie-fuer-uns | Schreiben Sie für uns",
        "de | /gastautor-werden | Gastautor werden",
        "fr | /ecrire-pour-nous | Écrire pour nous",
        "es | /escribe-para-nosotros | Escribe para nosotros",
        "it | /scrivi-per-noi | Scrivi per noi",
        "pt | /escreva-para-nos | Escreva para nós",
        "nl | /schrijf-voor-ons | Schrijf voor ons",
        "pl | /pisz-dla-nas | Pisz dla nas",
        "sv | /skriv-for-oss | Skriv för oss",
        "da | /skriv-for-os | Skriv for os",
        "da | /gaesteindlaeg | Gæsteindlæg",
        "cs | /piste-pro-nas | Pište pro nás",
        "bg | /pishete-za-nas | Пишете за нас",
    ),
    *said(
        "write_for_us", True,
        "en | We accept guest posts on farming, barns and rain.",
        "en | Why not write for us? We pay.",
        "en | Write for us! We do not accept guest posts that were published before, though.",
        "en | Don't hesitate to write for us.",
        "en | You do not need experience to write for us.",
        "en | If you do not have a blog of your own, write for us.",
        "fr | N'hésitez pas à écrire pour nous.",
        "de | Zögern Sie nicht: Schreiben Sie für uns!",
        "pl | Przyjmujemy wpisy gościnne o rolnictwie.",
    ),
    *itself(
        "write_for_us", True,
        "en | /contribute-here | Write for Us - Acme, the SEO and marketing blog",
        "en | /p/77 | Acme | Become a guest blogger",
        "en | /2020/01/27/write-for-us/ | An invitation",
    ),
    known("write_for_us", True, "en", "/contribute/", "Contribute", "Get paid to write about databases and farms."),
    *linked(
        "write_for_us", False,
        "en | /blog/what-is-guest-posting | What is guest posting? A guide",
        "en | /guest-posting-for-seo | Guest posting for SEO",
        "en | /blog/50-sites-that-accept-guest-posts | 50 sites that accept guest posts",
        "en | /category/guest-posts | Guest posts",
        "en | https://other.example/write-for-us | Write for us",
        "en | /no-guest-posts | We don't accept guest posts",
        "en | /contribute | Contribute code on GitHub",
        "en | /contribute | Contribute",
        "en | /donate | Contribute",
        "en | /guest-book | Guest book",
        "en | /blog/how-to-become-a-writer | How to become a writer",
        "en | /write-for-beginners | Write for beginners",
        "en | /2024/02/guest-post-why-i-left-paris | Guest post: why I left Paris",
        "de | /blog/gastbeitraege-seo | Gastbeiträge und SEO: die Vorteile",
        "es | /blog/que-es-el-guest-posting | Qué es el guest posting",
    ),
    *said(
        "write_for_us", False,
        "en | Sorry, no guest posts please.",
        "en | We do not accept guest posts.",
        "en | Do you accept guest posts? No, we don't.",
        "en | Thanks to all the people who write for us.",
        "en | Search Google for your keyword + \"write for us\" to find blogs.",
        "en | We no longer write for us alone, he said.",
        "en | Guest posts are not accepted.",
        "en | Could we accept guest posts? Sorry, but these days are over.",
        "de | Wir nehmen keine Gastbeiträge an.",
        "de | Gastbeiträge nehmen wir nicht an.",
        "fr | Nous n'acceptons pas les articles invités.",
        "es | No aceptamos artículos de invitados.",
        "it | Non accettiamo guest post.",
        "pt | Não aceitamos guest posts.",
        "nl | Wij plaatsen geen gastblogs.",
        "pl | Nie przyjmujemy wpisów gościnnych.",
        "sv | Vi tar inte emot gästinlägg.",
        "da | Vi modtager ikke gæsteindlæg.",
        "cs | Hostující články nepřijímáme.",
        "bg | Не приемаме гост публикации.",
    ),
    *itself(
        "write_for_us", False,
        "en | /guest-posts | The best guest posting sites of the year",
        "en | /blog/guest-blogging | Is guest blogging dead? Statistics and tips",
    ),
    known("write_for_us", False, "en", "/write-for-us", "Write for us", "We do not accept guest posts at this time."),

    *linked(
        "guest_post_guidelines", True,
        "en | /guest-post-guidelines | Guest post guidelines",
        "en | /p/6 | Submission guidelines",
        "en | /writers-guidelines.html | Writer’s guidelines",
        "en | /guidelines-for-contributors | Before you pitch",
        "en | /guest-sponsored-contributor-guidelines/ | Guest / Sponsored / Contributor guidelines",
        "de | /richtlinien-fuer-gastbeitraege | Richtlinien für Gastbeiträge",
        "fr | /consignes-aux-auteurs | Consignes aux auteurs",
        "es | /normas-para-autores | Normas para autores",
        "it | /linee-guida-per-gli-autori | Linee guida per gli autori",
        "pt | /diretrizes-para-autores | Diretrizes para autores",
        "nl | /richtlijnen-voor-gastblogs | Richtlijnen voor gastblogs",
        "pl | /wytyczne-dla-autorow | Wytyczne dla autorów",
        "sv | /riktlinjer-for-gastinlagg | Riktlinjer för gästinlägg",
        "da | /retningslinjer-for-gaesteindlaeg | Retningslinjer for gæsteindlæg",
        "cs | /pokyny-pro-autory | Pokyny pro autory",
        "bg | /pravila-za-avtori | Правила за автори",
    ),
    *said("guest_post_guidelines", True, "en | Please read our contributor guidelines before you send anything."),
    *itself("guest_post_guidelines", True, "en | /2020/01/27/blog-contributor-guidelines/?cb=1 | How it works"),
    known(
        "guest_post_guidelines", True, "en", "/writers", "For writers",
        "Our guidelines for guest authors: no guest posts that were published before.",
    ),
    *linked(
        "guest_post_guidelines", False,
        "en | /community-guidelines | Community guidelines",
        "en | /brand-guidelines | Brand guidelines",
        "en | /contributing | Contribution guidelines for code: open a pull request",
        "en | /conference/submission-guidelines | Conference submission guidelines",
        "en | /editorial-guidelines | Editorial guidelines",
        "en | /health/sleep-guidelines | Guidelines for better sleep",
        "en | https://other.example/guest-post-guidelines | Guest post guidelines",
        "en | /journal/author-guidelines | Guidelines for manuscripts",
        "en | /privacy-guidelines | Privacy guidelines",
        "de | /richtlinien | Richtlinien",
        "fr | /charte-graphique | Charte graphique",
        "es | /normas-de-uso | Normas de uso",
    ),
    *said(
        "guest_post_guidelines", False,
        "en | The new guidelines surprised the authors of the study.",
        "en | Type “guest post guidelines” into the search box.",
        "en | We have no guest post guidelines.",
    ),

    *marked(
        True,
        "en | " + _ARTICLE % (_PERSON % ',"jobTitle":"Farmer"'),
        "en | " + _ARTICLE % (_PERSON % ',"sameAs":["https://social.example/ada"]'),
        'en | <script type="application/ld+json">{"@graph":[{"@type":"Article","author":{"@id":"#a"}},'
        '{"@type":"Person","@id":"#a","name":"Ada Byron","description":"Writes on barns."}]}</script>',
        'en | <p>By <a rel="author" href="/people/ada">Ada Byron</a></p>',
        'en | <div itemprop="author" itemscope itemtype="https://schema.org/Person"><b itemprop="name">Ada Byron</b>'
        '<i itemprop="jobTitle">Farmer</i></div>',
        'en | <div class="author-bio">Ada Byron has farmed for twenty years and writes about barns.</div>',
        'en | <section class="post-author-box"><p>Ada Byron lives on a farm with two dogs.</p></section>',
        'en | <div class="byline">By Ada Byron</div>',
        'en | <span class="entry-author">Ada Byron</span>',
        "en | <h3>About the author</h3><p>Ada farms.</p>",
        "en | <strong>About the Author:</strong> Ada farms.",
        'en | <p>Words: <a href="/author/ada-byron">Ada Byron</a></p>',
        "de | <h3>Über den Autor</h3><p>Ada ist Bäuerin.</p>",
        'de | <p class="byline">Von Ada Byron</p>',
        "fr | <h4>À propos de l’auteur</h4><p>Ada est fermière.</p>",
        "es | <h3>Sobre la autora</h3><p>Ada es granjera.</p>",
        "it | <h3>Informazioni sull’autore</h3><p>Ada coltiva.</p>",
        "pt | <h3>Sobre o autor</h3><p>Ada cultiva.</p>",
        "nl | <h3>Over de auteur</h3><p>Ada boert.</p>",
        "pl | <h3>O autorze</h3><p>Ada jest rolniczką.</p>",
        "sv | <h3>Om författaren</h3><p>Ada är bonde.</p>",
        "da | <h3>Om forfatteren</h3><p>Ada er landmand.</p>",
        "cs | <h3>O autorovi</h3><p>Ada hospodaří.</p>",
        "bg | <h3>За автора</h3><p>Ада е фермер.</p>",
    ),
    *marked(
        False,
        "en | " + _ARTICLE % (_PERSON % ""),
        "en | " + _ARTICLE % '"author":{"@type":"Organization","name":"Acme","url":"https://acme.example"}',
        "en | " + _ARTICLE % '"author":{"@type":"Person","name":"admin","url":"https://acme.example/author/admin"}',
        'en | <div class="byline">By admin</div>',
        'en | <div class="byline">By the editorial team</div>',
        'en | <div class="comments"><span class="comment-author author">Bob Miller</span> Nice!</div>',
        'en | <blockquote>To be <cite class="author">William Shakespeare</cite></blockquote>',
        'en | <div class="testimonial"><p class="author">Jane Roe, customer</p></div>',
        'en | <div class="author-bio"></div>',
        "en | <h3>Author tools and services</h3><p>For those who author books.</p>",
        "en | <p>The author said that barns burn. About the author nothing is known.</p>",
        "en | " + "".join(f'<a href="/author/writer-{n}">Writer {n}</a>' for n in range(9)),
        'en | <script type="application/ld+json">{"@type":"Comment","author":{"@type":"Person","name":"Bob",'
        '"url":"/u/bob"}}</script>',
        'en | <a class="authorize" href="/x">Authorise Ada Byron</a>',
        "de | <p>Der Autor schweigt.</p>",
        "fr | <p>Un auteur inconnu a écrit ceci.</p>",
    ),
    *marked(
        False,
        "en | <h3>About the author</h3><p>She wrote twelve novels.</p>",
        'en | <div class="author-bio">She wrote twelve novels, and this is the first of them.</div>',
        kinds=("product",),
    ),
)  # fmt: skip
