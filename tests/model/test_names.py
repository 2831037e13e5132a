import subprocess
import sys

import pytest

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.names import DomainName, name_warnings


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("example.org", "example.org"),
        ("  Example.ORG.\r\n", "example.org"),
        ("\ufeffexample.org", "example.org"),
        ("https://www.example.org/a?b#c", "example.org"),
        ("http://example.org:80", "example.org"),
        ("https://example.org:80", "example.org"),
        ("example.org:443", "example.org"),
        ("example.org:8080/foo", "example.org:8080"),
        ("www.example.org.:8080", "example.org:8080"),
        ("//example.org/foo", "example.org"),
        ("http:example.org", "example.org"),
        ("https:///example.org", "example.org"),
        ("example.org\\foo", "example.org"),
        ("https://me:secret@example.org", "example.org"),
        ("ex%61mple%2Eorg", "example.org"),
        ("blog.example.org", "blog.example.org"),
        ("münchen.de", "xn--mnchen-3ya.de"),
        ("MÜNCHEN。de", "xn--mnchen-3ya.de"),
        ("faß.de", "xn--fa-hia.de"),
        ("_dmarc.my_shop.example.org", "_dmarc.my_shop.example.org"),
        ("-a-.example.org", "-a-.example.org"),
    ],
)
def test_what_people_write_becomes_one_canonical_name(text: str, name: str) -> None:
    assert DomainName.parse(text) == DomainName(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("www.www.example.org", "example.org"),
        ("www.com", "www.com"),
        ("www.gov.uk", "www.gov.uk"),
        ("www.www.gov.uk", "www.gov.uk"),
        ("www.github.io", "www.github.io"),
        ("www.me.github.io", "me.github.io"),
        ("www.ck", "www.ck"),
        ("www.foo.kawasaki.jp", "www.foo.kawasaki.jp"),
        ("www2.example.org", "www2.example.org"),
    ],
)
def test_www_goes_unless_that_leaves_the_site(text: str, name: str) -> None:
    domain = DomainName.parse(text)
    assert domain.name == name
    assert domain.site == DomainName(text).site


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the name is empty"),
        (" \t\n", "the name is empty"),
        ("https://", "'https://' has no host name"),
        ("?q", "'?q' has no host name"),
        ("a\nexample.org", r"'a\nexample.org' holds a control character or a line break"),
        ("exam\x00ple.org", r"'exam\x00ple.org' holds a control character or a line break"),
        ("exam ple.org", "'exam ple.org' has characters that no host name has"),
        ("exam%20ple.org", "'exam%20ple.org' has characters that no host name has"),
        ("\udcffexample.org", r"'\udcffexample.org' has characters that no host name has"),
        ("*.example.org", "'*.example.org' has characters that no host name has"),
        ("Kernel.exit(1)", "'kernel.exit(1)' has characters that no host name has"),
        ("a..org", "'a..org' has an empty label"),
        (".org", "'.org' has an empty label"),
        ("example.org..", "'example.org.' has an empty label"),
        (f"{'a' * 64}.org", f"'{'a' * 64}.org' is too long for DNS"),
        ("a." * 126 + "org", f"'{'a.' * 39}a…' is too long for DNS"),
        ("x" * 10_001, f"'{'x' * 79}…' is 10,001 characters long"),
        ("example.org:0", "'example.org:0' names port 0, where nothing can listen"),
        ("example.org:65536", "'example.org:65536' has no valid port"),
        ("example.org:http", "'example.org:http' has no valid port"),
        ("1.2.3.256", "'1.2.3.256' ends in a number and is not a valid IPv4 address"),
        ("example.123", "'example.123' ends in a number and is not a valid IPv4 address"),
        ("fe80::1", "'fe80::1' is not a valid IPv6 address"),
        ("[::1", "'[::1' is not a valid IPv6 address"),
        ("/etc/passwd", "'/etc/passwd' is a path without a host"),
        ("\\\\server\\share", r"'\\\\server\\share' is a path without a host"),
        ("mailto:me@example.org", "'…@example.org' looks like an e-mail address"),
        ("me@example.org/?u=http://a.org", "'…@example.org/?u=http://a.org' looks like an e-mail address"),
        ("ftp://example.org", "'ftp://example.org' is neither http nor https"),
        ("javascript:alert(1)", "'javascript:alert(1)' is neither http nor https"),
    ],
)
def test_what_is_no_host_name_is_refused_with_the_reason(text: str, message: str) -> None:
    for allow_private in (False, True):
        with pytest.raises(NameRefusedError) as caught:
            DomainName.parse(text, allow_private=allow_private)
        assert caught.value.message == message
        assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("127.0.0.1", "127.0.0.1", "an IP address"),
        ("http://0x7f.1:8000/x", "127.0.0.1:8000", "an IP address"),
        ("2130706433", "127.0.0.1", "an IP address"),
        ("8.8.8.8.", "8.8.8.8", "an IP address"),
        ("\N{FULLWIDTH DIGIT ONE}27.0.0.1", "127.0.0.1", "an IP address"),
        ("[2001:DB8:0::1]:443", "[2001:db8::1]", "an IP address"),
        ("[::1]:8000", "[::1]:8000", "an IP address"),
        ("LOCALHOST:8000", "localhost:8000", "not a public domain name"),
        ("shop.localhost", "shop.localhost", "not a public domain name"),
        ("intranet", "intranet", "not a public domain name"),
        ("www.", "www", "not a public domain name"),
        ("http:8080", "http:8080", "not a public domain name"),
    ],
)
def test_private_names_need_permission(text: str, name: str, kind: str) -> None:
    assert DomainName.parse(text, allow_private=True).name == name
    with pytest.raises(NameRefusedError, match=f"is {kind}$") as caught:
        DomainName.parse(text)
    assert "names.allow_private" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "site", "shared_key"),
    [
        ("example.org", "example.org", "example.org"),
        ("a.b.example.co.uk:8080", "example.co.uk", "example.co.uk"),
        ("me.github.io", "me.github.io", "github.io"),
        ("github.io", "github.io", "github.io"),
        ("co.uk", "co.uk", "co.uk"),
        ("shop.intranet.internal", "intranet.internal", "intranet.internal"),
        ("localhost:8000", "localhost", "localhost"),
        ("10.0.0.1:8000", "10.0.0.1", "10.0.0.1"),
        ("[2001:db8::1]:8000", "[2001:db8::1]", "2001:db8::1"),
        ("[::ffff:a00:1]", "[::ffff:a00:1]", "10.0.0.1"),
        ("食狮.公司.cn".encode("idna").decode(), "xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
    ],
)
def test_site_is_for_trust_and_shared_key_for_politeness(name: str, site: str, shared_key: str) -> None:
    domain = DomainName.parse(name, allow_private=True)
    assert (domain.name, domain.site, domain.shared_key) == (name, site, shared_key)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://a.blog.example.co.uk:8080/x", "example.co.uk:8080"),
        ("blog.me.github.io", "me.github.io"),
        ("github.io", "github.io"),
        ("10.0.0.1", "10.0.0.1"),
    ],
)
def test_subdomains_collapse_to_the_site_on_request(text: str, name: str) -> None:
    assert DomainName.parse(text, allow_private=True, collapse_subdomains=True).name == name


def test_host_and_port_are_read_off_the_name() -> None:
    assert (DomainName("[::1]:8000").host, DomainName("[::1]:8000").port) == ("[::1]", 8000)
    assert (DomainName("[::1]").host, DomainName("[::1]").port) == ("[::1]", None)
    assert (DomainName("example.org:8").host, DomainName("example.org:8").port) == ("example.org", 8)
    assert f"{DomainName('example.org')}" == "example.org"


@pytest.mark.parametrize(
    "text", ["https://me:hunter2@exa mple.org/", "me:hunter2@example.org", "ftp://me:hunter2@a.org"]
)
def test_a_refusal_does_not_repeat_a_password(text: str) -> None:
    with pytest.raises(NameRefusedError) as caught:
        DomainName.parse(text)
    assert "hunter2" not in f"{caught.value.message}{caught.value.hint}"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("\u0440\u0430ypal.com", "xn--ypal-43d9g ('\u0440\u0430ypal') mixes scripts: cyrillic, latin"),
        (
            "\u0430\u0440\u0440\u04cf\u0435.com:8080",
            "xn--80ak6aa92e ('\u0430\u0440\u0440\u04cf\u0435') is Cyrillic and looks like Latin",
        ),
        ("xn--a.example.org", "xn--a is not the punycode of any name"),
        ("xn--99999999.example.org", "xn--99999999 is not the punycode of any name"),
    ],
)
def test_dressed_up_names_are_taken_with_a_warning(text: str, warning: str) -> None:
    assert DomainName.parse(text).warnings == (warning,)


@pytest.mark.parametrize("text", ["example.org", "münchen.de", "пример.рф", "東京タワーtokyo.jp", "한국어.kr", "[::1]"])
def test_names_as_people_write_them_have_no_warning(text: str) -> None:
    assert name_warnings(DomainName.parse(text, allow_private=True).name) == ()


def test_importing_names_loads_neither_parser_nor_list() -> None:
    program = "import sys, bailiwick.model.urls; print({'ada_url', 'publicsuffixlist'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
