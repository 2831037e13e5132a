"""The story of specification 000 in a real browser: submit, review, reject, approve, watch it crawl, suspend."""

import re

from playwright.sync_api import Locator, expect

from tests.web.browser.conftest import OpenWindow
from tests.web.browser.serving import Served
from tests.web.browser.wheel import MARK
from tests.web.browser.window import PASSWORD, Window

_STARTED = "Crawling started. Check back in a few minutes."


def test_first_link_sets_name_and_password_once(served: Served, window: Window) -> None:
    page = window.page
    page.goto(served.first_link)
    window.inspect()
    page.get_by_label("Name").fill("olga")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill("something else")
    page.get_by_role("button", name="Set it and log in").click()
    window.expect_alert("The two passwords differ.")

    window.start(served.first_link)
    expect(page.get_by_role("contentinfo")).to_contain_text(MARK)
    page.goto(served.first_link)
    expect(page.get_by_role("heading", level=1)).to_contain_text("link")
    window.inspect()

    page.get_by_role("button", name="Log out").click()
    window.expect_note("You are logged out.")
    window.inspect()
    window.log_in("olga", "a wrong password")
    window.expect_alert("Name or password is wrong.")
    window.go("/review")
    window.log_in("olga")
    expect(page.get_by_role("heading", name="Waiting for review")).to_be_visible()


def test_submission_is_checked_reviewed_rejected_and_handed_in_again(served: Served, window: Window) -> None:
    page, name = window.page, served.name("foodbank.example")
    window.start(served.first_link)

    window.submit("not a domain")
    window.expect_alert("not a domain")
    expect(page.get_by_label("Domain", exact=True)).to_have_value("not a domain")
    window.inspect()
    window.submit(f"http://{name}/services/housing?ref=1", "State food bank directory")
    window.expect_note(f"{name} is submitted for review.")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    window.submit(name)
    window.expect_alert("Already submitted for review.")
    window.inspect()

    window.go("/review")
    waiting = page.get_by_role("listitem").filter(has_text=name)
    expect(waiting).to_contain_text("State food bank directory")
    expect(waiting).to_contain_text("Submitted by olga (admin)")
    expect(waiting.get_by_role("time")).to_have_text(re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d"))
    waiting.get_by_text("Reject…").click()
    reason = waiting.get_by_label("Reason")
    window.inspect()
    waiting.get_by_role("button", name="Reject").click()
    assert reason.evaluate("field => field.validity.valueMissing"), "a reason is needed"
    reason.fill("Only a landing page so far.")
    waiting.get_by_role("button", name="Reject").click()
    window.expect_note(f"{name} is rejected.")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    window.inspect()

    window.submit(name)
    window.expect_alert("It was rejected.")
    window.expect_alert("Only a landing page so far.")
    window.submit(name, "It has a directory now.")
    window.expect_note(f"{name} is submitted for review again.")
    for line in ("olga submitted", "olga rejected: pending review → rejected", "“Only a landing page so far.”"):
        expect(page.get_by_role("region", name="Timeline")).to_contain_text(line)


def test_approved_domain_is_crawled_before_ones_eyes(served: Served, window: Window) -> None:
    page, host = window.page, "news.example"
    name = served.name(host)
    window.start(served.first_link)
    window.submit(name, "The local newspaper")
    window.configure(Delay="0.05")

    window.go("/review")
    page.get_by_role("button", name="Approve", exact=True).click()
    window.expect_note(f"{name} is approved. {_STARTED}")
    page.get_by_role("link", name=f"Watch {name}").click()
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    page.evaluate("() => { window.isTheSame = true; }")
    done = _done(window)
    window.wait_until(lambda: _number(done) > 0)
    seen = _number(done)
    window.wait_until(lambda: _number(done) > seen)
    expect(page.get_by_role("region", name="Crawl", exact=True)).to_contain_text("exhausted", timeout=60_000)
    assert _number(done) == len(served.running.web[host].reachable(3))
    assert page.evaluate("() => window.isTheSame"), "it was loaded anew"
    page.get_by_role("link", name="Show it as it is now").click()
    expect(page.get_by_text("It is not crawled now (not due)")).to_be_visible()
    window.inspect()

    tabs = page.get_by_role("navigation", name="About this domain")
    tabs.get_by_role("link", name="Pages").click()
    expect(page.get_by_role("row").filter(has_text="/sport/").first).to_contain_text(re.compile(r"ok\s*200"))
    window.inspect()
    tabs.get_by_role("link", name="Errors").click()
    expect(page.get_by_role("row").filter(has_text="/live")).to_contain_text(re.compile(r"rate limited\s*429"))
    window.inspect()
    tabs.get_by_role("link", name="Refused").click()
    page.get_by_label("Why is this page (not) fetched?").fill("/live")
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_role("status")).to_contain_text("it was fetched at")
    window.inspect()

    window.submit(name)
    window.expect_alert("Already approved, would you like to re-crawl it?")
    page.get_by_role("button", name="Re-crawl it").click()
    window.expect_note(f"Every page of {name} is due now.")


def test_approved_list_recrawls_trusts_and_suspends(served: Served, window: Window) -> None:
    page, host = window.page, "news.example"
    name = served.name(host)
    window.start(served.first_link)
    window.submit(name)
    window.configure(Delay="0.3")
    page.get_by_role("button", name="Approve", exact=True).click()
    window.expect_note(_STARTED)

    window.go("/approved")
    row = page.get_by_role("row").filter(has_text=name)
    row.get_by_role("button", name="Trust").click()
    window.expect_note(f"{name} is trusted.")
    row.get_by_role("button", name="Re-crawl").click()
    window.expect_note(f"Every page of {name} is due now.")
    window.inspect()

    page.get_by_role("link", name=name, exact=True).click()
    crawl = page.get_by_role("region", name="Crawl", exact=True)
    expect(crawl).to_contain_text("crawling now")
    window.wait_until(lambda: served.requests_to(host) > 5)
    window.go("/approved")
    row.get_by_text("Suspend…").click()
    row.get_by_label("Reason").fill("They asked us to pause.")
    row.get_by_role("button", name="Suspend").click()
    window.expect_note(f"{name} is suspended: a worker that is at it stops within seconds.")
    expect(page.get_by_text("None yet.")).to_be_visible()
    page.get_by_role("link", name=f"Watch {name}").click()
    expect(crawl).to_contain_text("nobody is at it at this moment")
    asked = served.requests_to(host)
    expect(page.get_by_text("“They asked us to pause.”")).to_be_visible()
    window.inspect()
    assert served.requests_to(host) == asked < len(served.running.web[host].reachable(3))
    page.get_by_role("button", name="Resume").click()
    window.expect_note(f"{name} is approved again.")
    window.wait_until(lambda: served.requests_to(host) > asked)


def test_two_pairs_of_eyes_once_there_are_two_to_decide(served: Served, window: Window, new_window: OpenWindow) -> None:
    page, name = window.page, served.name("blog.example")
    window.start(served.first_link)
    window.go("/members")
    page.get_by_label("Name").fill("rosa")
    page.get_by_label("Role", exact=True).select_option("reviewer")
    page.get_by_role("button", name="Invite").click()
    link = page.get_by_text(f"{window.address}/welcome/").inner_text()
    window.inspect()
    other = new_window()
    other.start(link, "rosa", renames=False)

    window.submit(name)
    window.go("/review")
    expect(page.get_by_text("You submitted it: somebody else approves it.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    window.inspect()
    other.go("/review")
    other.page.get_by_role("button", name="Approve", exact=True).click()
    other.expect_note(f"{name} is approved. {_STARTED}")
    other.go("/members")
    expect(other.page.get_by_role("heading", level=1)).to_have_text("This page is for admins")


def _done(window: Window) -> Locator:
    """The number of pages that are done, on a domain's page."""
    return window.page.get_by_role("progressbar", name="Pages done")


def _number(progress: Locator) -> int:
    return int(progress.evaluate("bar => bar.value"))
