"""Ads by whole words of names, by attributes and by hosts; the outermost counts, and what holds the page is none."""

import pytest

from bailiwick.score.rules.markup import read_markup
from tests.score.rules.pages import FILLER, assessed, page_of

AN_AD = '<ins class="adsbygoogle" data-ad-slot="1"></ins>'


@pytest.mark.parametrize(
    "html",
    [
        '<div class="ad"></div>',
        '<div id="div-gpt-ad-1572551555033-0"></div>',
        '<div class="adSlot"></div>',
        '<div class="sidebarAd"></div>',
        '<div class="ad1"></div>',
        '<aside class="widget advertisement"></aside>',
        '<div class="GoogleDfpAd-wrapper"></div>',
        '<div id="taboola-below-article"></div>',
        '<div class="sponsored-post"></div>',
        '<div class="banner-300x250"></div>',
        '<div class="werbung"></div>',
        '<div class="publicité"></div>',
        AN_AD,
        "<amp-ad></amp-ad>",
        '<div data-ad-unit-path="/1/2"></div>',
        '<iframe src="https://tpc.googlesyndication.com/safeframe"></iframe>',
        '<iframe src="//ad.doubleclick.net/x"></iframe>',
        '<img src="https://cdn.adnxs.com/banner.gif" width="300">',
    ],
)
def test_ads(html: str) -> None:
    assert len(read_markup(f"<body>{FILLER}{html}").ads) == 1


@pytest.mark.parametrize(
    "html",
    [
        '<header class="header site-header"></header>',
        '<button class="add-to-cart"></button>',
        '<div class="box-shadow shadow"></div>',
        '<a class="download" href="/x">x</a>',
        '<span class="badge badge-primary"></span>',
        '<div class="loading load-more"></div>',
        '<div class="gradient breadcrumb adapter adjacent admin"></div>',
        '<div class="no-ads"></div>',
        '<p class="ad-free">Try it ad-free</p>',
        '<div class="ad-blocker-notice"></div>',
        '<li class="category-ads"></li>',
        '<div class="adFHlH"></div>',
        '<div id="x-38d2-ad8f-319c"></div>',
        '<div class="classified-ad-list"></div>',
        '<a href="https://www.doubleclick.net/terms">Terms</a>',
        '<img src="https://ad.doubleclick.net/x.gif" width="1" height="1">',
        '<iframe src="https://ad.doubleclick.net/x" style="display: none"></iframe>',
        '<iframe src="https://notdoubleclick.net/x"></iframe>',
        '<main class="has-ads ads"></main>',
        '<div class="ads"><h1>The page itself</h1></div>',
        '<div class="ads"><article>The page itself</article></div>',
        f'<div class="ad-wrapper">{"<p>text</p>" * 300}</div>',
        '<noscript><div class="ad"></div></noscript>',
        '<script class="ad"></script>',
    ],
)
def test_no_ads(html: str) -> None:
    assert read_markup(f"<body>{FILLER}{html}").ads == ()


def test_the_outermost_counts_and_what_is_within_does_not() -> None:
    markup = read_markup(f'<body><p>a</p><div class="ad"><div class="ad-inner">{AN_AD}<p>b</p></div></div>')
    assert markup.ads == ("div.ad",)
    assert markup.elements == 2


def test_ads_are_excessive_from_the_policy_s_share_on() -> None:
    page = page_of(f"<body>{FILLER * 57}{AN_AD * 3}")
    results, proofs = assessed(page)
    assert results.content_quality.excessive_ads.detected
    assert proofs["excessive_ads"][0].text == "3 of 60 elements are ads (5.0%): ins.adsbygoogle"
    assert not assessed(page, ads_share=0.06)[0].content_quality.excessive_ads.detected


def test_a_few_ads_are_never_excessive() -> None:
    results, proofs = assessed(page_of(f"<body>{FILLER}{AN_AD * 2}"))
    assert results.content_quality.excessive_ads.checked
    assert not results.content_quality.excessive_ads.detected
    assert "2 of 3 elements" in proofs["excessive_ads"][0].text
    assert not assessed(page_of(FILLER), ads_share=0)[0].content_quality.excessive_ads.detected
