"""Pages and ways to read them that the tests of this folder share."""

from bailiwick.extract.content import ContentLimits, read_content
from bailiwick.model.content import Content, Unread

HTML = "text/html; charset=utf-8"
URL = "https://example.org/grants/village-halls"
LIMITS = ContentLimits()
PROSE = (
    "The fund helps village halls that need a new roof, new heating or a ramp for wheelchairs. It was set up by the "
    "county in the year after the great flood, and it has helped more than two hundred halls since then. Applicants "
    "write two pages about their hall, name three people who will look after the work, and add one quotation from a "
    "local builder. A committee of five reads all applications in the first week of each quarter."
)


def read(html: str | bytes, content_type: str = HTML, url: str = URL) -> Content | Unread:
    body = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
    return read_content(body, content_type, url, LIMITS)


def content(html: str | bytes, content_type: str = HTML, url: str = URL) -> Content:
    found = read(html, content_type, url)
    assert isinstance(found, Content), found
    return found
