# ruff: noqa: SIM905 - letters of other alphabets; word lists read best as a line of words
"""Addresses of logins: which redirects are a login wall."""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

_MOST_CHARS = 4000
_LOGIN = frozenset(
    "login log-in log_in signin sign-in sign_in signon sign-on sign_on logon log-on log_on userlogin user-login "
    "user_login "
    "login-page loginpage login_page loginform login-form login_form wp-login servicelogin accountlogin "
    "account-login "
    "account_login member-login members-login memberlogin customer-login customerlogin admin-login adminlogin "
    "doLogin "
    "login-required login_required loginrequired require-login need-login needlogin authenticate authwall "
    "sso-login ssologin "
    "login-sso oauth-login oauth_login signinoauth special:userlogin ucp-login login1 login2 loginaction login_check "
    "anmelden anmeldung einloggen connexion se-connecter seconnecter identification iniciar-sesion iniciarsesion "
    "inicio-sesion acceder accedi area-riservata iniciar-sessao fazer-login inloggen aanmelden logowanie zaloguj "
    "zaloguj-sie vhod voiti voyti войти вход авторизация ログイン 登录 登入".lower().split()
)
_MAYBE_LOGIN = frozenset(
    "sso auth authentication authorize authorise authorization oauth oauth2 openid openid-connect oidc saml "
    "saml2 cas adfs "
    "idp accounts account session sessions simplesaml realms connect identity id acceso accesso entrar acessar "
    "user users "
    "member members my-account register signup gateway".split()
)
_STARTS = frozenset(
    {"sso", "auth", "cas", "adfs", "idp", "saml", "saml2", "oauth2", "oauth", "simplesaml", "oidc", "shibboleth"}
)
_HOSTS = frozenset("login signin sign-in logon sso auth idp cas adfs accounts account id identity oauth saml".split())
_SURE_HOSTS = frozenset("login signin sign-in logon sso idp cas adfs".split())
_CONTENT = frozenset(
    "blog blogs docs doc documentation help support wiki articles article news kb faq guide guides tutorial "
    "tutorials api "
    "reference manual learn tag tags category categories product products shop forum questions posts p press".split()
)
_RETURNS = frozenset(
    "next return returnto return_to returnurl return_url return_path returnpath redirect redirect_to redirectto "
    "redirect_uri "
    "redirecturi redirecturl redirect_url redirect_after_login continue service goto target targeturl target_url "
    "dest "
    "destination url from back backurl back_url back_to came_from ref referer referrer relaystate samlrequest "
    "wreply wtrealm "
    "wctx done forward fromurl from_url origin original_url originalurl success_url "
    "successurl rurl ru retour volver".split()
)
_WHAT = frozenset("action do route page view mode act op m module task q r p title option".split())
_EXTENSION = re.compile(r"\.(?:php|aspx?|html?|jsp|jsf|do|action|cgi|cfm|xhtml|seam|fcc|pl)\d?$")


def leads_to_login(path: str, location: str) -> bool:
    """Whether a redirect from this page (path and query) to this location asks for a login.

    The address decides: it names a login, and the page did not; where the name is not sure (`/auth`, `/account`),
    it also says where to come back to.
    """
    try:
        target = urlsplit(location[:_MOST_CHARS].strip())
        query = {key.lower(): value for key, value in parse_qsl(target.query, max_num_fields=100)}
    except ValueError:
        return False
    here = _segments(path[:_MOST_CHARS].partition("?")[0])
    there = _segments(target.path)
    if (here and here == there) or any(segment in _LOGIN for segment in here):
        return False
    does_return = not _RETURNS.isdisjoint(query)
    if "samlrequest" in query or {"client_id", "response_type"} <= query.keys():
        return True
    if _names_login(there, does_return=does_return) or _asks_for_login(query):
        return True
    if any(segment in _LOGIN for segment in _segments(target.fragment.partition("?")[0].lstrip("!"))):
        return target.fragment.lstrip("!").startswith("/")
    label = (target.hostname or "").partition(".")[0]
    return label in _SURE_HOSTS or (label in _HOSTS and does_return)


def _segments(path: str) -> list[str]:
    found = [_EXTENSION.sub("", segment.partition(";")[0].lower()) for segment in unquote(path).split("/")]
    return [segment for segment in found if segment and segment != "index"]


def _names_login(segments: list[str], *, does_return: bool) -> bool:
    if not _CONTENT.isdisjoint(segments[:-1]) and not does_return:
        return False
    if any(segment in _LOGIN for segment in segments):
        return True
    if does_return:
        return any(segment in _MAYBE_LOGIN for segment in segments)
    return bool(segments) and segments[0] in _STARTS and len(segments) < 4


def _asks_for_login(query: dict[str, str]) -> bool:
    """`index.php?action=login`, `?route=account/login`, `?title=Special:UserLogin`."""
    return any(key in _WHAT and value.lower().rpartition("/")[2] in _LOGIN for key, value in query.items())
