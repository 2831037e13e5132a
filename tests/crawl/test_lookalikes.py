# ruff: noqa: E501, RUF001 - a short page is a line; letters of other alphabets
"""Login walls and soft 404s: what is one in eleven languages, what only looks like one, and redirects to a login."""

import gzip

import pytest
from selectolax.lexbor import LexborHTMLParser

from bailiwick.crawl.lookalikes import Lookalike, leads_to_login, looks_like
from bailiwick.crawl.lookalikes.words import MOST_PHRASE_WORDS, Lists, plain
from bailiwick.net.charsets import decode
from tests.suites import suite_path

LOREM = "The river rose again in the night, and the people of the lower town carried what they could up the hill. "
NAV = "<nav>" + "".join(f"<a href=/{n}>Part {n}</a>" for n in range(12)) + "</nav>"
FORM = (
    "<form method=post action=/session><label>Name <input name=username></label>"
    "<label>Password <input type=password name=password></label><button>Log in</button></form>"
)


BOX = FORM.replace("/session", "/login")


def verdict(html: str) -> Lookalike | None:
    return looks_like(LexborHTMLParser(html))


def page(body: str, title: str = "Acme", head: str = "", body_attributes: str = "") -> str:
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head><body {body_attributes}>"
        f"<header><a href=/>Acme</a> <a href=/login>Log in</a></header>{NAV}{body}"
        "<footer><p>© Acme. All rights reserved. Terms, privacy, imprint.</p></footer></body></html>"
    )


# Soft 404s


NOT_FOUND = {
    "title, heading and sentence": page(
        "<main><h1>Page not found</h1><p>The page you are looking for does not exist.</p></main>",
        "Page not found | Acme",
    ),
    "a long list of other pages": page(
        "<main><h1>Page not found</h1><p>The page you requested could not be found. Try one of these:</p><ul>"
        + "".join(f"<li><a href=/guide/{n}>The long title of our guide number {n}</a></li>" for n in range(60))
        + "</ul></main>",
        "404 - Acme",
    ),
    "teasers below": page(
        f"<main><h1>Oops! That page can’t be found.</h1><p>It looks like nothing was found at this location.</p>"
        f"<h2>Latest</h2><p>{LOREM * 2}</p></main>",
        "Page not found – Acme",
        body_attributes="class='error404 wp-theme'",
    ),
    "a title and nothing else": "<title>404 Not Found</title><div id=root></div><script src=/app.js></script>",
    "a bare server": "<html><head><title>404 Not Found</title></head><body><center><h1>404 Not "
    "Found</h1></center><hr>nginx",
    "a framework's": page(
        "<div><h1>404</h1><h2>This page could not be found.</h2></div>", "404: This page could not be found."
    ),
    "the heading only": page(
        "<main><h1>Sorry, we can't find that page</h1><p>Go back to the <a href=/>home page</a>.</p></main>"
    ),
    "a second heading": page("<main><h1><a href='/'>Acme</a></h1><h2>Page not found</h2><a href=/>Home</a></main>"),
    "a sentence only": page("<div class=msg>Sorry, the page you requested was not found on this server.</div>"),
    "a sentence below regret": page(
        "<main><h1>Oops!</h1><p>We couldn't find the page you were looking for.</p></main>"
    ),
    "404 and a sentence": page("<main><p class=big>404</p><p>This page does not exist.</p></main>"),
    "an article that went": page("<main><h1>Article not found</h1><p>The article has been removed.</p></main>"),
    "a product that went": page(
        "<main><h1>Product not found</h1><a href=/shop>Continue shopping</a></main>", "Acme Shop"
    ),
    "its header in a section": page(
        "<main><section class=not-found><header class=page-header><h1>Nothing here</h1></header>"
        "<p>The page you are looking for may have been moved.</p></section></main>"
    ),
    "a cookie banner": page(
        f"<div class=cookie-banner>{LOREM * 9}</div>"
        "<main><h1>Page not found</h1><p>That address does not exist.</p></main>"
    ),
    "a number in the title": page(
        "<main><h1>Something went wrong</h1><p>The page you asked for could not be found. Perhaps it has another "
        "address now, or it was written with a mistake. Use the search above, look at the map of the site, or begin "
        "again at the front page.</p></main>",
        "Error 404",
    ),
    "a number above": page(
        "<main><h1>404</h1><p>The page you asked for could not be found. Perhaps it has another address now, or it was "
        "written with a mistake. Use the search above, look at the map of the site, or begin again at the front page. "
        "We are happy to help you by telephone, too.</p></main>",
        head="<meta name=robots content=noindex>",
    ),
    "a heading in the header of its section": page(
        "<main><header><h1>Page not found</h1></header><a href=/>Home</a></main>"
    ),
    "a notice": page("<div><h2>Information</h2><p>The requested topic does not exist.</p></div>", "Forum"),
    "a joke above": page(
        "<main><h1>Well, this is awkward</h1><p>The page may have been removed.</p></main>", "Page not found | Acme"
    ),
    "German": page("<main><h1>Seite nicht gefunden</h1><p>Die angeforderte Seite existiert leider nicht.</p></main>"),
    "German sentence": page(
        "<main><h1>Hoppla!</h1><p>Diese Seite gibt es leider nicht mehr oder wurde verschoben.</p></main>"
    ),
    "French": page(
        "<main><h1>Page introuvable</h1><p>La page que vous cherchez n’existe plus.</p></main>", "Erreur 404"
    ),
    "Spanish": page("<main><h1>Página no encontrada</h1><p>Lo sentimos, la página que buscas no existe.</p></main>"),
    "Italian": page("<main><h1>Pagina non trovata</h1><p>Spiacenti, la pagina richiesta non esiste.</p></main>"),
    "Portuguese": page(
        "<main><h1>Página não encontrada</h1><p>A página que procura não existe ou foi removida.</p></main>"
    ),
    "Dutch": page("<main><h1>Pagina niet gevonden</h1><p>De pagina die u zoekt bestaat niet meer.</p></main>"),
    "Polish": page(
        "<main><h1>Nie znaleziono strony</h1><p>Przepraszamy, strona o tym adresie nie istnieje.</p></main>"
    ),
    "Russian": page("<main><h1>Страница не найдена</h1><p>К сожалению, такой страницы нет на нашем сайте.</p></main>"),
    "Japanese": page(
        "<main><h1>ページが見つかりません</h1><p>お探しのページは削除されたか、移動した可能性があります。</p></main>"
    ),
    "no results": page("<main><h1>Search</h1><p>No results for “kettles”. Try another word.</p></main>", "Search"),
    "a search": page("<main><h1>Nothing found</h1><p>Sorry, nothing matched your search.</p></main>", "Nothing found"),
    "Chinese": page("<main><h1>页面不存在</h1><p>抱歉,您访问的页面不存在或已被删除。</p></main>"),
}
LOGIN_WALLS = {
    "title, heading and form": page(
        f"<main><h1>Log in</h1>{FORM}<a href=/reset>Forgot password?</a></main>", "Log in | Acme"
    ),
    "a heading for the form": page(f"<main><h1>My account</h1><h2>Login</h2>{FORM}</main>", "My account"),
    "a form and little else": page(f"<main>{FORM}</main>"),
    "its header in the form": page(
        f"<div class=card><div class=card-header>Welcome</div>{FORM}</div>", "Sign in [Acme]"
    ),
    "reasons": page(
        "<main><p>You are not logged in or you do not have permission to access this page. This could be due to "
        "one of "
        "several reasons:</p><ul><li>You are not logged in. Fill in the form at the bottom of this page and try "
        "again.</li>"
        "<li>You may not have the privileges that this page needs: are you trying to edit another user's post, "
        "or to reach "
        f"the administrators' area?</li></ul>{FORM}</main>",
        "Acme Forum",
    ),
    "a sentence and a link": page(
        "<main><h1>Members only</h1><p>You must be logged in to view this page.</p><a href='/login?next=/x'>Log "
        "in</a></main>"
    ),
    "a sentence": page("<div class=alert>Please <a href=/signin>sign in</a> to continue.</div>", "Acme wiki"),
    "services that know you": page(
        "<main><h1>Sign in to Acme</h1><button>Continue with Google</button><button>Continue with Apple</button>"
        "<a href=/saml>Sign in with SSO</a></main>"
    ),
    "the name first": page(
        "<main><h1>Sign in</h1><form><input type=email name=loginfmt "
        "autocomplete=username><button>Next</button></form></main>"
    ),
    "only scripts": "<title>Sign in – Acme</title><div id=root></div><noscript>Enable JavaScript.</noscript>",
    "to the identity provider": (
        "<title>Redirect</title><form method=post action=https://idp.example.org/sso>"
        "<input type=hidden name=SAMLRequest value=PHNhb><input type=submit value=Continue></form>"
    ),
    "refreshed": "<title>Acme</title><meta http-equiv=refresh content='0; url=/login?next=%2Freports'><p>One "
    "moment.</p>",
    "sent on by script": "<title>Acme</title><body><script>window.location.href = '/users/sign_in';</script></body>",
    "protected by a password": page(
        "<main><h1>Protected: Minutes</h1><form action=/wp-login.php?action=postpass method=post>"
        "<p>This content is password protected. To view it please enter your password below:</p>"
        "<input name=post_password type=password><input type=submit value=Enter></form></main>",
        "Protected: Minutes – Acme",
    ),
    "links without number in a menu": page(
        "<div class=menu>" + "<a href=/x>x</a>" * 60 + f"</div><main><h1>Sign in</h1>{FORM}</main>", "Sign in"
    ),
    "a sentence, more words and a link": page(
        "<main><p>You must be logged in to view this page. Accounts are given to everybody who works for the town, by "
        "the people at the front desk.</p><a href=/login>Go</a></main>"
    ),
    "a small heading": page(f"<main><h3>Log in</h3>{FORM.replace('Log in', 'OK')}</main>"),
    "a legend": page(FORM.replace("Log in", "OK").replace("<label", "<legend>Log in</legend><label", 1)),
    "a modal that is open": page(f"<div class='modal show'><h2>Log in</h2>{FORM}</div>"),
    "an article behind it": page(
        f"<main><h1>The flood</h1><p>{LOREM}</p><p>This article is for subscribers only.</p>{FORM}</main>", "The flood"
    ),
    "an open dialog": page(f"<dialog open><h2>Log in</h2>{FORM}</dialog>", "Log in"),
    "German": page(
        f"<main><h1>Anmelden</h1><p>Bitte melden Sie sich an, um fortzufahren.</p>{FORM}</main>", "Anmelden - Acme"
    ),
    "German sentence": page(
        "<main><h1>Geschützter Bereich</h1><p>Dieser Bereich ist nur für Mitglieder zugänglich.</p></main>"
    ),
    "French": page(f"<main><h1>Connexion</h1>{FORM}</main>", "Se connecter - Acme"),
    "French sentence": page(
        "<main><p>Vous devez être connecté pour accéder à cette page.</p><a href=/connexion>Connexion</a></main>"
    ),
    "Spanish": page(f"<main><h1>Iniciar sesión</h1>{FORM}</main>"),
    "Italian": page(f"<main><h1>Area riservata</h1><p>Effettua l'accesso per continuare.</p>{FORM}</main>"),
    "Portuguese": page(f"<main><h1>Entrar na sua conta</h1>{FORM}</main>"),
    "Dutch": page("<main><h1>Inloggen</h1><p>U moet ingelogd zijn om deze pagina te bekijken.</p></main>"),
    "Polish": page(f"<main><h1>Zaloguj się</h1>{FORM}</main>", "Logowanie | Acme"),
    "Russian": page("<main><h1>Вход на сайт</h1><p>Для просмотра этой страницы необходимо авторизоваться.</p></main>"),
    "Japanese": page("<main><h1>ログイン</h1><p>このページを閲覧するにはログインしてください。</p></main>"),
    "Chinese": page("<main><h1>用户登录</h1><p>请先登录后查看此内容。</p></main>"),
}
ORDINARY = {
    "a login link in the header": page(f"<main><h1>Opening hours</h1><p>{LOREM}</p></main>"),
    "a short page": page("<main><h1>Contact</h1><p>Write to us: 1 Mill Lane, Ashford.</p></main>", "Contact"),
    "nothing": "",
    "a login form in the header": page(f"<h1>Welcome to our club</h1><p>{LOREM}</p>").replace(
        "</header>", FORM + "</header>"
    ),
    "a login form in a div named so": page(f"<div id=topbar>{FORM}</div><h1>Our club</h1><p>{LOREM}</p>"),
    "a form named so": page(f"{FORM.replace('<form', '<form class=navbar-form')}<h1>Our club</h1><p>{LOREM}</p>"),
    "a login form in the sidebar": page(f"<main><h1>Our club</h1><p>Short.</p></main><aside>{FORM}</aside>"),
    "a hidden modal": page(
        f"<h1>Our club</h1><p>Short.</p><div class='modal fade' id=login-modal><h2>Log in</h2>{FORM}</div>"
    ),
    "a hidden form": page(f"<h1>Our club</h1><p>Short.</p><div hidden><h2>Log in</h2>{FORM}</div>"),
    "aria-hidden": page(f"<h1>Our club</h1><p>Short.</p><div aria-hidden=true><h2>Log in</h2>{FORM}</div>"),
    "not displayed": page(f"<h1>Our club</h1><p>Short.</p><div style='display: none'><h2>Log in</h2>{FORM}</div>"),
    "a class that hides": page(
        f"<main><h1>Our club</h1><p>Short.</p><div class=d-none><h2>Log in</h2>{FORM}</div></main>"
    ),
    "a sidebar in the main part": page(
        f"<main><h1>Our club</h1><p>Short.</p><div class=sidebar><h2>Log in</h2>{FORM}</div></main>"
    ),
    "a closed dialog": page(f"<h1>Our club</h1><p>Short.</p><dialog><h2>Log in</h2>{FORM}</dialog>"),
    "role of a dialog": page(f"<h1>Our club</h1><p>Short.</p><div role=dialog><h2>Log in</h2>{FORM}</div>"),
    "folded": page(f"<h1>Our club</h1><p>Short.</p><details><summary>Members</summary>{FORM}</details>"),
    "a template": page(f"<h1>Our club</h1><p>Short.</p><template><h2>Log in</h2>{FORM}</template>"),
    "to comment": page(
        f"<article><h1>The flood</h1><p>{LOREM}</p><div id=comments><p>Join in.</p>{BOX}</div></article>"
    ),
    "must log in to comment": page(
        f"<article><h1>The flood</h1><p>{LOREM}</p><p>You must be logged in to post a comment.</p></article>"
    ),
    "a home page with a login box": page(f"<main><h1>Ashford rowing club</h1><p>{LOREM * 2}</p>{BOX}</main>"),
    "the index of a forum": page("".join(f"<div><a href=/f/{n}>Forum {n}</a></div>" for n in range(30)) + BOX),
    "a login and a long text": page(f"<main><h1>Log in</h1>{FORM}<p>{LOREM * 14}</p></main>", "Log in"),
    "steps": page("<main><h1>Log in</h1><ol><li>Open it.</li><li>Press Log in.</li></ol></main>", "Log in"),
    "registration with one password": page(f"<main><h1>Sign up</h1>{FORM.replace('Log in', 'Go')}</main>", "Sign up"),
    "how to log in": page(
        "<main><h1>Log in to your account</h1><ol><li>Open the app.</li><li>Enter your name and your password.</li>"
        "<li>Press Log in.</li></ol><p>You are then on your start page.</p></main>",
        "Log in to your account - Acme help",
    ),
    "the documentation of a login": page(
        "<main><h1>Login</h1><p>Send the name and the password; a token comes back.</p><pre>POST /login</pre></main>",
        "Login",
    ),
    "a demonstration of a form": page(f"<main><h1>Login form</h1>{FORM}<pre>&lt;form&gt;</pre></main>", "Login form"),
    "registration": page(
        "<main><h1>Create your account</h1><form><input name=username><input type=password autocomplete=new-password>"
        "<button>Continue</button></form><p>Have one? <a href=/login>Log in</a></p></main>",
        "Create your account",
    ),
    "two new passwords": page(
        "<main><h1>Almost there</h1><form><input type=password><input "
        "type=password><button>Continue</button></form></main>"
    ),
    "a password tool": page(
        f"<main><h1>How strong is it?</h1><p>{LOREM * 2}</p><input type=password><button>Test</button></main>"
    ),
    "an article about logins": page(f"<article><h1>Log in</h1><p>{LOREM * 20}</p></article>", "Log in"),
    "a paywall below the text": page(
        f"<article><h1>The flood</h1><p>{LOREM * 8}</p><p>Please log in to continue reading.</p></article>"
    ),
    "log in for prices": page(
        f"<main><h1>Steel pipe</h1><p>{LOREM}</p><p>Log in to see prices.</p></main>", "Steel pipe"
    ),
    "dated": page(
        f"<main><article><h1>Members only</h1>"
        f"<time datetime=2024-01-01>1 January</time><p>{LOREM * 2}</p></article></main>"
    ),
    "an article about 404": page(
        f"<article><h1>404 Not Found</h1><p>{LOREM * 12}</p></article>", "404 Not Found - Encyclopedia"
    ),
    "a glossary": page(
        "<main><h1>404 Not Found</h1><p>The HTTP status code 404 is what a server answers if it has no such "
        "page.</p></main>",
        "404 Not Found - Glossary",
    ),
    "a question with code": page(
        f"<main><h1>Page not found</h1><p>{LOREM}</p><pre>location / {{ }}</pre><p>{LOREM}</p></main>",
        "Page not found - Answers",
    ),
    "a question": page(
        f"<main><h1>Page not found</h1><time datetime=2020-01-01>3 May 2020</time><p>{LOREM * 2}</p></main>",
        "Page not found - Answers",
    ),
    "how to repair": page(
        "<main><h1>How to fix page not found</h1><p>Clear the cache.</p></main>", "How to fix Page not found"
    ),
    "what it means": page(
        "<main><h1>Error 404: what does it mean?</h1><p>A page was not found.</p></main>", "Error 404 – what is it?"
    ),
    "a condition": page(
        "<main><h1>Links</h1><p>If the page you are looking for does not exist, tell us.</p></main>", "Links"
    ),
    "release notes": page(
        "<main><h1>Release 2.3</h1><p>Fixed: the page could not be found after a login.</p></main>", "Release 2.3"
    ),
    "out of stock": page(
        "<main><h1>Blue kettle</h1><p>This product is no longer available.</p><p>1.7 litres.</p></main>", "Blue kettle"
    ),
    "a song": page(
        f"<main><h1>Page Not Found</h1><p>{LOREM * 4}</p></main>", "Page Not Found - The Wanderers - Lyrics"
    ),
    "a number": page(
        "<main><h1>404</h1><p>The bus of line 404 goes from the station to the mill every hour.</p></main>", "404"
    ),
    "a folder": "<title>Index of /pub</title><h1>Index of /pub</h1><pre><a href=a>a</a> <a "
    "href=login.html>login.html</a></pre>",
    "a class for hidden things on the wrapper": page(
        f"<div class=sidebar><main><h1>Log in</h1><p>{LOREM * 30}</p></main></div>", "Log in"
    ),
    "much in Chinese": page(
        f"<main><h1>登录</h1>{FORM}<p>{'系统的架构分为三个层次每一层都有自己的职责' * 30}</p></main>", "登录"
    ),
    "a session that ends": page(
        "<main><h1>Timetable</h1><p>Line 4, every hour.</p></main>",
        head="<meta http-equiv=refresh content='1800; url=/login'>",
    ),
    "a script that may send on": page(
        "<main><h1>Timetable</h1></main><script>function out() { location.href = '/login'; }</script>"
    ),
    "a novel": page(
        "<main><h1>Not Found</h1><p>Novel, 312 pages. A woman in Oslo gets mail from an address which does not exist. "
        "Translated from the Norwegian.</p></main>",
        "Not Found (novel) - Books",
    ),
    "a named column": page(
        f"<main><h1>Board</h1><p>Anna Kern, Peter Lang.</p></main><div><h3>Login</h3>{FORM}</div>",
        "Board | Ashford club",
    ),
    "a small heading beside": page(
        f"<div><h3>Login</h3>{FORM}</div><h2>Welcome</h2><p>{LOREM}Next meeting: 3 May.</p>"
    ),
    "a guest": page("<h1>Forum</h1><p>Welcome, guest. Please log in or register.</p><p>Soup: add salt.</p>", "Forum"),
    "single sign-on for sale": page(f"<main><h1>Single sign-on</h1><p>{LOREM * 2}</p></main>", "Single sign-on"),
    "code in a line": page(
        f"<main><h1>Login</h1>{FORM}<p>Or <code>curl --user name:password https://api.example.org/v1/login "
        "--request POST --header accept:text/plain</code></p></main>",
        "Login",
    ),
    "priced": page(f"<main><h1>Page not found</h1><p>{LOREM}</p><meta itemprop=price content=12></main>", "Poster"),
    "German course": page(
        "<main><h1>Anmeldung</h1><p>Bitte melden Sie sich bis zum 3. Mai zum Kurs an. Der Kurs kostet 40 Euro, "
        "Bücher sind "
        "dabei, und in der Pause gibt es Kaffee.</p></main>",
        "Anmeldung zum Kurs",
    ),
}


SENTENCES = [
    "Bitte melden Sie sich vorher telefonisch an. Montag Ruhetag.",
    "Der Rabatt gilt nur für Mitglieder. Kunden sehen ihn im Warenkorb.",
    "Artikel 3 der Satzung wurde gelöscht.",
    "Merci de prendre rendez-vous avant votre visite.",
    "L’article 5 a été supprimé du règlement.",
    "Para participar debe reservar una sesión en recepción.",
    "È necessario accedere dal cancello laterale.",
    "L’articolo 7 è stato eliminato.",
    "Favor entrar em contato pelo telefone.",
    "U moet zich vooraf aanmelden. De rondleiding duurt een uur.",
    "Aby wziąć udział, należy wypełnić formularz.",
    "Чтобы войти в парк, нужно купить билет.",
    "会員限定セール開催中。全品10%オフ。",
    "请登录官网查询考试成绩。",
    "该商品已下架，新款将于六月上市。",
    "Members only: Monday to Friday, 7 to 9. Guests on Sundays.",
    "The image was removed at the request of the family.",
    "This book is no longer available in hardcover; the paperback is.",
    "For some services you have to sign in with your citizen card.",
    "Your order is on its way. Log in to see your orders.",
    "You must be logged in to download the files.",
    "We are sorry for your loss.",
    "Your cart is empty.",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_ordinary_sentence_on_a_short_page(sentence: str) -> None:
    assert verdict(page(f"<main><h1>Notes</h1><p>{sentence}</p></main>", "Notes | Acme")) is None
    assert verdict(page(f"<div><h2>Notes</h2><p>{sentence}</p></div>")) is None


@pytest.mark.parametrize("file", ["login_words.txt", "not_found_words.txt", "shared_words.txt"])
def test_a_phrase_can_be_found(file: str) -> None:
    lists = Lists(file)
    assert [phrase for phrase in lists.spaced if phrase.count(" ") >= MOST_PHRASE_WORDS] == []
    assert [phrase for phrase in (*lists.spaced, *lists.dense) if plain(phrase) != phrase] == []


@pytest.mark.parametrize("name", NOT_FOUND)
def test_soft_404(name: str) -> None:
    assert verdict(NOT_FOUND[name]) is Lookalike.NOT_FOUND


@pytest.mark.parametrize("name", LOGIN_WALLS)
def test_login_wall(name: str) -> None:
    assert verdict(LOGIN_WALLS[name]) is Lookalike.LOGIN_WALL


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_page(name: str) -> None:
    assert verdict(ORDINARY[name]) is None


SHORT_PAGES = [
    (
        "Recall: heater withdrawn | Safety",
        "<main><h1>Product recall: Nova heater</h1><p>This product has been withdrawn from sale. Stop using it and return it to the shop for a refund.</p></main>",
    ),
    (
        "Deleted scenes - Reel",
        "<h1>Deleted scenes</h1><p>Twelve minutes that did not make the cut.</p><a href=/1>Play</a>",
    ),
    ("Lost and found", "<h1>Lost and found</h1><p>A blue umbrella was not found. Ask at the desk.</p>"),
    ("Vacancies | Dell", "<h1>Vacancies</h1><p>There are no vacancies at the moment.</p>"),
    (
        "Jobs",
        "<h1>Jobs</h1><p>The position of clerk has been filled. We are still looking for a gardener, 20 hours a week.</p>",
    ),
    ("Notice board", "<h1>Notice</h1><p>The event on 3 May has been cancelled. Tickets will be refunded.</p>"),
    (
        "Service notice | Tram",
        "<h1>Line 4</h1><p>The stop at Mill Lane is no longer served. Use the stop at the station.</p>",
    ),
    (
        "Old Mill Cottage | Stays",
        "<h1>Old Mill Cottage</h1><p>Sleeps four, garden, dogs welcome. £90 a night.</p><p>This property is no longer available in August.</p>",
    ),
    (
        "Blue kettle | Shop",
        "<h1>Blue kettle</h1><p>£22.00</p><p>This item is no longer available.</p><p>1.7 litres, enamel, with a whistle.</p>",
    ),
    (
        "Blue kettle | Shop",
        "<h1>Blue kettle</h1><p>Discontinued. Enamel, 1.7 litres, with a whistle. Spare lids can still be ordered.</p>",
    ),
    ("404 Fahrenheit", "<h1>404</h1><p>A wine bar in the old fire station. Open Tuesday to Saturday from six.</p>"),
    ("Error | A play in two acts", "<h1>Error</h1><p>By Ana Lund. At the Playhouse until 3 May.</p>"),
    ("Gone", "<h1>Gone</h1><p>A novel by R. Hale. 312 pages, hardback.</p>"),
    (
        "Sorry",
        "<h1>Sorry</h1><p>We sent some of you the wrong invoice last week. If you were charged twice we have refunded you; nothing else is needed.</p>",
    ),
    (
        "Oops! Winners",
        "<h1>Oops!</h1><p>The funniest baking mishaps of the year. Vote for your favourite.</p><img><img>",
    ),
    ("Status", "<h1>Status</h1><p>Some files could not be found on 3 May between 10:00 and 10:40. All are back.</p>"),
    (
        "Page Not Found (EP) | Kiln Records",
        "<h1>Page Not Found</h1><p>Four tracks by The Wanderers. Out now on vinyl, 12 inch, £14.</p>",
    ),
    (
        "User not found | Inkfish docs",
        '<h1>User not found</h1><p>The API answers this when the id does not exist.</p><pre>{"error": "user_not_found"}</pre>',
    ),
    (
        "File not found error in Excel - Answers",
        "<h1>File not found error</h1><p>My sheet says the file could not be found since the update.</p><p>Move it back to the same folder.</p>",
    ),
    ("Seite 404 | Roman", "<h1>Seite 404</h1><p>Kriminalroman, 404 Seiten, Taschenbuch.</p>"),
    (
        "Termin verschoben",
        "<h1>Termin verschoben</h1><p>Die Veranstaltung am 3. Mai wurde auf den 10. Mai verschoben.</p>",
    ),
    ("Kurs entfällt | VHS", "<h1>Kurs entfällt</h1><p>Dieser Kurs findet nicht statt. Gebühren werden erstattet.</p>"),
    (
        "Buslinie 7",
        "<h1>Buslinie 7</h1><p>Die Haltestelle Markt wurde verlegt. Diese Haltestelle existiert nicht mehr.</p>",
    ),
    ("Avis de recherche", "<h1>Avis de recherche</h1><p>Cette personne n'a pas été retrouvée. Appelez le 17.</p>"),
    ("Loi abrogée | Journal", "<h1>Article 12</h1><p>Cet article a été supprimé par la loi du 3 mai 2001.</p>"),
    (
        "Produit épuisé | Librairie",
        "<h1>Les eaux mortes</h1><p>Roman, 240 pages. Ce produit n'est plus disponible chez l'éditeur; occasion possible.</p><p>12 €</p>",
    ),
    (
        "Tienda cerrada",
        "<h1>Tienda cerrada</h1><p>Esta tienda ya no está abierta al público. Puede comprar en la calle Mayor 3.</p>",
    ),
    ("Objetos perdidos", "<h1>Objetos perdidos</h1><p>Un paraguas no reclamado. No se ha encontrado la llave.</p>"),
    ("Concorso", "<h1>Concorso chiuso</h1><p>Questo concorso è terminato. Vincitori: Anna, Luca, Pia.</p>"),
    ("Комната 404", "<h1>Комната 404</h1><p>Квест для двоих, 60 минут, 2000 руб.</p>"),
    (
        "Магазин закрыт",
        "<h1>Магазин закрыт</h1><p>Этот магазин переехал на улицу Ленина, 5. Ждём вас с девяти до шести.</p>",
    ),
    (
        "お知らせ",
        "<h1>営業終了のお知らせ</h1><p>本店は三月末をもって営業を終了しました。長年のご愛顧に感謝いたします。</p>",
    ),
    ("公告", "<h1>停售公告</h1><p>该产品已停止生产，维修服务持续到明年。</p>"),
    (
        "Search: kettle | Dell",
        "<h1>Search results</h1><p>2 results for kettle.</p><ul><li><a href=/1>Blue kettle</a></li><li><a href=/2>Red kettle</a></li></ul>",
    ),
    (
        "Search | Dell",
        "<h1>Search</h1><p>No results in Toys. 12 results in Kitchen:</p><ul><li><a href=/1>Blue kettle</a> £22</li><li><a href=/2>Red kettle</a> £20</li></ul>",
    ),
    ("Match report: no goals", "<h1>No goals, no results</h1><p>Marn and Thrapley shared a muddy afternoon.</p>"),
    ("Log | Ship's log", "<h1>Log in the fog</h1><p>Day 12. Wind from the north.</p>"),
    ("Members | Choir", "<h1>Members</h1><p>Anna, Ben, Carla. Rehearsals are for members only.</p>"),
    ("Sign in at reception", "<h1>Visitors</h1><p>Please sign in at reception and wear a badge.</p>"),
    ("Newsletter", "<h1>Stay in touch</h1><form><input type=email name=email><button>Subscribe</button></form>"),
    (
        "Vote",
        "<h1>Best bread 2024</h1><p>Log in to vote.</p><a href=/login>Log in</a><p>Nominees: rye, spelt, einkorn.</p>",
    ),
    ("Demo: password meter", "<h1>Password meter</h1><p>Type a password to see its strength.</p><input type=password>"),
    (
        "Dell & Sons | Kettles since 1890",
        "<h1>Kettles since 1890</h1><p>We make kettles by hand.</p><form action=/login><input name=user><input type=password><button>Log in</button></form>",
    ),
    (
        "Library",
        "<h1>Library</h1><p>Open Monday to Friday.</p><form action=/login><label>Card <input name=user></label><label>PIN <input type=password></label><button>Log in</button></form><p>New books: Eels, Winter Bees.</p>",
    ),
    (
        "Course: Latin I",
        "<h1>Latin I</h1><p>Twelve weeks with R. Simons, Tuesdays at six.</p><p>You must be logged in to enrol.</p><a href=/login>Log in</a>",
    ),
    (
        "The flood | Courier",
        "<h1>The flood</h1><p>The river rose again in the night, and the people of the lower town carried what they could up the hill. By morning the bridge had gone, and with it the mill. Nobody was hurt, said the mayor, but forty houses stand in water.</p><p>Subscribe to keep reading our reporters every day.</p><a href=/login>Log in</a>",
    ),
    (
        "Client portal | Hale Accountants",
        "<h1>Client portal</h1><p>Our portal keeps your papers safe. Ask your adviser for an invitation; you will need a phone.</p><a href=/login>Log in</a>",
    ),
    (
        "Members' area",
        "<h1>Why join?</h1><p>Members only: 10% off, the newsletter and a key to the shed.</p><a href=/join>Join</a> <a href=/login>Log in</a>",
    ),
    (
        "Single sign-on | Tallyboard",
        "<h1>Single sign-on</h1><p>Let your people sign in with the account they have. Set up in ten minutes.</p><a href=/pricing>Pricing</a>",
    ),
    (
        "Mitglieder",
        "<h1>Mitglieder</h1><p>Der Zugang zur Werkstatt ist nur für Mitglieder. Seite für Anfänger: Dienstag.</p>",
    ),
    (
        "Anmeldung zum Sommerlager",
        "<h1>Anmeldung</h1><p>Bitte bis 3. Mai anmelden.</p><form><input name=name><input type=email name=email><button>Anmelden</button></form>",
    ),
    ("Connexion Wi-Fi | Gare", "<h1>Connexion Wi-Fi</h1><p>Le Wi-Fi est gratuit dans toute la gare.</p>"),
    ("Accesso disabili", "<h1>Accesso</h1><p>L'accesso è libero. Rampa sul lato nord.</p>"),
    ("Acceso al museo", "<h1>Acceso</h1><p>Entrada por la calle del Sol. Metro: Plaza.</p>"),
    ("Вход | Музей", "<h1>Вход</h1><p>Вход со двора. Билеты в кассе.</p>"),
    (
        "Photo 12 | Album",
        "<h1>Photo 12</h1><img><a href=/11>Previous</a><a href=/13>Next</a><p>Sign in to comment.</p>",
    ),
    (
        "Video | Reelbox",
        "<h1>Sharpening a knife</h1><video></video><p>12,000 views</p><p>Sign in to like, save or share this video.</p>",
    ),
    (
        "Checkout",
        "<h1>Checkout</h1><form><input type=email name=email><input name=street><button>Continue</button></form><p>Have an account? <a href=/login>Log in</a></p>",
    ),
    (
        "Create account",
        "<h1>Create account</h1><form><input name=email><input type=password><button>Continue</button></form>",
    ),
    (
        "Reset password",
        "<h1>Reset your password</h1><form><input type=email name=email><button>Continue</button></form>",
    ),
    (
        "Track order",
        "<h1>Track your order</h1><form><input name=email><input name=order><button>Continue</button></form>",
    ),
    ("Unsubscribe", "<h1>Unsubscribe</h1><form><input name=email type=email><button>Continue</button></form>"),
    (
        "Private view | Gallery",
        "<h1>Private view</h1><p>This event is private. The show opens to all on 3 May, admission free.</p>",
    ),
    (
        "Archived: Rules of 2009",
        "<h1>Rules of 2009</h1><p>This page has been archived and is no longer updated.</p><p>1. No running. 2. No diving. 3. Children under eight with an adult.</p>",
    ),
    ("Moved", "<h1>Our office has moved</h1><p>The address you knew is gone: we are now at 3 Market Street.</p>"),
    (
        "Ended auction: oak chair | Lots",
        "<h1>Oak chair, 1840</h1><p>This auction has ended. Sold for £120 after 14 bids.</p>",
    ),
    ("Closed poll | Thrapley", "<h1>Should Mill Lane be closed?</h1><p>This poll is closed. Yes 212, no 340.</p>"),
    ("Past event: Spring fair", "<h1>Spring fair</h1><p>This event has finished. 3 May, Market Square, free.</p>"),
]


@pytest.mark.parametrize(("title", "body"), SHORT_PAGES)
def test_ordinary_short_page(title: str, body: str) -> None:
    assert verdict(page(f"<main>{body}</main>", title)) is None
    top = "<div><a href=/>Logo</a> <a href=/a>A</a> <a href=/login>Login</a></div>"
    assert verdict(f"<title>{title}</title>{top}<div>{body}</div><p>© Acme</p>") is None


def test_the_tree_stays_as_it_is() -> None:
    for html in (*NOT_FOUND.values(), *LOGIN_WALLS.values(), *ORDINARY.values()):
        tree = LexborHTMLParser(html)
        before = tree.html
        looks_like(tree)
        assert tree.html == before


HUGE = {
    "passwords": "<title>Log in</title>" + "<input type=password>" * 20_000,
    "hidden passwords": "<div hidden>" + "<input type=password>" * 20_000 + "</div>",
    "depth": "<title>Log in</title>" + "<div>" * 20_000 + FORM,
    "one paragraph": "<title>Page not found</title><p>" + "word " * 400_000,
    "a heading": "<h1>" + "log in " * 300_000,
    "links": "<title>404</title>" + "<a href=/login>page not found</a>" * 50_000,
    "sentences": "<title>Log in</title><a>" + "Please log in. If not found. " * 70_000,
    "words nearly said": "<title>Not found</title><a>" + "the page url file document " * 70_000,
    "scripts": "<title>Sign in</title>" + "<script>location = location;</script>" * 20_000,
    "classes": "<title>Sign in</title>" + f"<div class='{'a-' * 100_000}'>x</div>" * 5,
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_pages_end(name: str) -> None:
    assert verdict(HUGE[name]) in (None, Lookalike.LOGIN_WALL, Lookalike.NOT_FOUND)


if suite_path("articles") and suite_path("products"):

    def test_real_articles_and_products_are_ordinary() -> None:
        folders = [folder for suite in ("articles", "products") if (folder := suite_path(suite))]
        files = [file for folder in folders for file in sorted(folder.rglob("*.html*"))]
        assert len(files) > 130
        pages = (
            (file, gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()) for file in files
        )
        hits = {file.name[:16]: kind for file, body in pages if (kind := verdict(decode(body, "text/html")))}
        assert hits == {}


# Redirects


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/reports", "/login"),
        ("/reports", "/login?next=/reports"),
        ("/reports?y=1", "https://example.org/users/sign_in"),
        ("/", "login.php"),
        ("/a", "https://example.org/wp-login.php?redirect_to=https%3A%2F%2Fexample.org%2Fa&reauth=1"),
        ("/a", "/Account/Login?ReturnUrl=%2Fa"),
        ("/a", "/auth?returnTo=/a"),
        ("/a", "/auth/realms/acme?redirect_uri=x"),
        ("/a", "https://sso.example.org/"),
        ("/a", "https://accounts.example.org/v3/check?continue=https://example.org/a"),
        ("/a", "https://cas.example.org/cas/x?service=https://example.org/a"),
        ("/a", "https://idp.example.org/profile/SAML2/Redirect/SSO?SAMLRequest=abc"),
        ("/a", "https://example.net/authorize?client_id=1&response_type=code"),
        ("/a", "/index.php?action=login"),
        ("/a", "/index.php?title=Special:UserLogin&returnto=A"),
        ("/a", "/#/login"),
        ("/a", "/de/anmelden"),
        ("/a", "/connexion?retour=/a"),
        ("/blog/private", "/blog/login?next=/blog/private"),
        ("/a", "/sso"),
        ("/a", "/%D0%B2%D1%85%D0%BE%D0%B4"),
        ("/a", "/login;jsessionid=1"),
    ],
)
def test_redirect_to_a_login(path: str, location: str) -> None:
    assert leads_to_login(path, location)


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/old", "/new"),
        ("/login", "/login/"),
        ("/login", "/account?next=/"),
        ("/a", "https://example.org/a"),
        ("/auth", "https://example.org/auth/"),
        ("/blog/how-to-login", "/blog/how-to-login/"),
        ("/p?id=3", "/blog/login"),
        ("/docs/auth", "/docs/v2/auth"),
        ("/x", "/docs/authentication"),
        ("/x", "/account"),
        ("/x", "/consent?next=/x"),
        ("/x", "/logout"),
        ("/x", "/authors/ann"),
        ("/x", "https://id.example.org/"),
        ("/x", "/x#login"),
        ("/x", "/search?q=how+to+login"),
        ("/", "/en/"),
        ("", ""),
        ("/a", "http://[broken"),
        ("/a", "/login-to-your-heart"),
    ],
)
def test_ordinary_redirect(path: str, location: str) -> None:
    assert not leads_to_login(path, location)
