"""Where links lead: to a page for contact, about who they are, about the law, or to the site of others."""

# ruff: noqa: RUF001, SIM905 - words of other alphabets; word lists read best as lines of words

import re
from functools import lru_cache

from bailiwick.model.names import DomainName

_HOST = re.compile(r"\s*(?:https?:)?//(?:[^/?#@\s]*@)?([a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+)", re.ASCII)
_BETWEEN = re.compile(r"[\s_.&-]+")
_LONGEST_LABEL = 40
_LEAST_NAME = 4

# Squeezed: lower case, without what is between words. Of a path, one of its last two parts has to be one of them.
CONTACT = frozenset(
    "contact contactus contacts contactform getintouch reachus feedback help helpcenter helpcentre "
    "helpandcontact customerservice customersupport support kontakt kontaktformular kundenservice "
    "kundendienst hilfe contacto contactos contactanos contáctanos contactenos atencionalcliente "
    "atenciónalcliente ayuda serviciodeatencionalcliente contactez contacteznous nouscontacter serviceclient "
    "aide contatti contattaci contatto assistenza assistenzaclienti aiuto contato faleconosco ajuda contacte "
    "apoioaocliente atendimento neemcontactop klantenservice contactgegevens kontakty kontakti kontaktai "
    "pomoc obsługaklienta napisztenánk kapcsolat ügyfélszolgálat contactați contactati ajutor yhteystiedot "
    "otayhteyttä asiakaspalvelu kontaktaoss kundeservice kundtjänst klienditeenindus võtaühendust контакты "
    "контакт обратнаясвязь помощь написатьнам службаподдержки поддержка байланыс iletişim iletisim 고객센터 문의 "
    "문의하기 联系我们 聯絡我們 聯繫我們 联系 客服中心 客服 お問い合わせ צורקשר שירותלקוחות اتصلبنا".split()
)
ABOUT = frozenset(
    "about aboutus aboutme whoweare ourstory ourteam team ourpeople staff masthead company corporate "
    "companyinfo corporateinfo careers jobs press pressroom newsroom investors investorrelations überuns "
    "ueberuns unternehmen karriere sobrenosotros quienessomos quiénessomos nosotros acercade apropos "
    "quisommesnous chisiamo azienda quemsomos sobrenos sobrenós sobreaempresa empresa overons onas ofirmie "
    "onás orrólunk rólunk desprenoi meist meistä tietoameistä parmums apiemus omoss onama opodjetju онас "
    "окомпании опроекте осайте редакция вакансии hakkımızda "
    "회사소개 关于我们 關於我們 会社概要 私たちについて אודות editorialteam "
    "editorial aboutthissite".split()
)
LAW = frozenset(
    "imprint impressum legal legalnotice legalinformation terms termsofuse termsofservice termsandconditions "
    "termsconditions tos privacy privacypolicy privacynotice privacyandcookies cookiepolicy cookies "
    "editorialpolicy editorialstandards ethics corrections copyright dmca agb datenschutz "
    "datenschutzerklärung datenschutzerklaerung avisolegal politicadeprivacidad políticadeprivacidad "
    "terminosycondiciones términosycondiciones condiciones privacidad mentionslegales mentionslégales cgv cgu "
    "confidentialité politiquedeconfidentialité notelegali privacidade termosdeuso políticadeprivacidade "
    "politicadeprivacidade termosecondições condiçõesdeutilização informativaprivacy politykaprywatności "
    "regulamin ochranaosobníchúdajů obchodnépodmienky obchodnípodmínky všeobecnépogoji zasebnost tietosuoja "
    "käyttöehdot privaatsus privatumapolitika privātumapolitika termenișicondiții termenisiconditii "
    "пользовательскоесоглашение политикаконфиденциальности правила "
    "이용약관 개인정보처리방침 개인정보취급방침 隐私政策 隱私權政策 服務條款 "
    "特定商取引法に基づく表記 プライバシーポリシー מדיניותפרטיות תקנון".split()
)
KINDS = 3
_FIRST_WORDS = {"contact": CONTACT, "kontakt": CONTACT, "about": ABOUT, "terms": LAW, "privacy": LAW, "legal": LAW}
# Links to these are there to share a page, to be followed or to sell: nothing rests on them.
_NO_SOURCES = frozenset(
    "facebook.com fb.com fb.me twitter.com x.com t.co instagram.com linkedin.com pinterest.com "
    "pinterest.co.uk youtube.com youtu.be tiktok.com snapchat.com whatsapp.com wa.me t.me telegram.me "
    "telegram.org reddit.com tumblr.com vk.com vk.me ok.ru weibo.com line.me flipboard.com google.com goo.gl "
    "apple.com apple.co bit.ly addthis.com sharethis.com addtoany.com doubleclick.net googlesyndication.com "
    "googleadservices.com taboola.com outbrain.com amzn.to disqus.com feedburner.com feedly.com getpocket.com "
    "xing.com livejournal.com messenger.com paypal.com trustpilot.com".split()
)
_SCHOLARLY = re.compile(r"(?:^|\.)(?:gov|edu|mil|int)(?:\.[a-z]{2})?$|\.ac\.[a-z]{2}$|\.gob\.|\.gouv\.")
_JOURNALS = frozenset(
    "doi.org nature.com science.org sciencemag.org sciencedirect.com springer.com wiley.com jstor.org "
    "arxiv.org plos.org biorxiv.org pnas.org cell.com thelancet.com nejm.org bmj.com oup.com cambridge.org "
    "tandfonline.com ieee.org acm.org who.int europa.eu un.org oecd.org worldbank.org".split()
)


def kind_of(href: str, text: str) -> frozenset[str] | None:
    """CONTACT, ABOUT or LAW if a link leads there by its words or its address; else None."""
    label = text.lower()
    for word in (_squeezed(label), *_ends(href.lower())):
        for kind in (CONTACT, ABOUT, LAW):
            if word in kind:
                return kind
    first, _, more = label.strip().partition(" ")
    return _FIRST_WORDS.get(first) if more.count(" ") < 3 and len(label) <= _LONGEST_LABEL else None


def _squeezed(words: str) -> str:
    return _BETWEEN.sub("", words) if len(words) <= _LONGEST_LABEL else ""


def _ends(href: str) -> list[str]:
    """The last two parts of a path, without what the server makes them with."""
    path = href[:300].partition("?")[0].partition("#")[0].rstrip("/")
    parts = path.removeprefix("https://").removeprefix("http://").removeprefix("//").split("/")[1:][-2:]
    return [_squeezed(part.partition(".")[0]) for part in parts]


def site_of(href: str) -> str:
    """The site an address is on; nothing for one within the page's own."""
    found = _HOST.match(href[:300])
    return _site(found[1].lower()) if found else ""


@lru_cache(maxsize=4096)
def _site(host: str) -> str:
    return DomainName(host).site


def is_source(site: str, own_site: str) -> bool:
    """Whether a text may rest on what is there: neither its own site under another name, nor a place to share it."""
    own_name = own_site.partition(".")[0]
    is_own = site == own_site or (len(own_name) >= _LEAST_NAME and own_name in site.partition(".")[0])
    return not is_own and site not in _NO_SOURCES


def is_scholarly(site: str) -> bool:
    """Governments, universities, journals, bodies of the United Nations."""
    return site in _JOURNALS or _SCHOLARLY.search(site) is not None
