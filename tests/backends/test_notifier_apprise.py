"""E-mail and further services by Apprise: what arrives, by which way, and what is said where it does not."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from bailiwick.backends import notifier_apprise
from bailiwick.backends.notifier_apprise import AppriseNotifier
from bailiwick.base.errors import SettingsError
from bailiwick.base.review_sections import NotifySettings
from bailiwick.base.sections import NetSettings
from bailiwick.ports import Notice, NoticeReply
from tests.backends.message_servers import Mails, Says, mail_server, webhook_server

PASSWORD = "p%41s w:rd/@+"
NOTICE = Notice("email", "Grüße & <b>", "Erste Zeile\n\n$HOME :smile: \\n <i>\n.\nende", "o'hara@mail.test")


@pytest.fixture(autouse=True)
def word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", PASSWORD)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secured(authority: trustme.CA) -> Iterator[Mails]:
    """A mail server that takes mail from who is known, over TLS alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with mail_server(Mails(account=("me@mail.test", PASSWORD), tls=context)) as mails:
        yield mails


def notifier(port: int, *, trusts: Path | None = None, **settings: object) -> AppriseNotifier:
    given = {"smtp_host": "localhost", "smtp_port": port, "timeout_seconds": 5, **settings}
    return AppriseNotifier(NotifySettings.model_validate(given), NetSettings(extra_ca_file=trusts), None)


def sent(by: AppriseNotifier, *notices: Notice) -> list[NoticeReply]:
    async def whole() -> list[NoticeReply]:
        try:
            return [await by.send(notice) for notice in notices]
        finally:
            await by.close()

    return asyncio.run(whole())


def test_a_mail_arrives_as_it_was_written() -> None:
    with mail_server(Mails()) as mails:
        by = notifier(mails.port, smtp_security="none", sender="robot@mail.test")
        [reply] = sent(by, NOTICE)
    assert reply == NoticeReply(is_sent=True)
    [mail] = mails.received
    assert mails.recipients == ["o'hara@mail.test"]
    assert (mail["To"], mail["Subject"]) == ("o'hara@mail.test", "Grüße & <b>")
    assert mail["From"] == "Bailiwick <robot@mail.test>"
    assert mail.get_content_type() == "text/plain"
    assert mail.get_content().splitlines() == NOTICE.body.splitlines()


def test_no_text_adds_a_header_or_a_recipient() -> None:
    evil = Notice("email", "x\r\nBcc: eve@evil.test", "\r\n.\r\nRCPT TO:<eve@evil.test>\r\n", "ann@mail.test")
    with mail_server(Mails()) as mails:
        sent(notifier(mails.port, smtp_security="none"), evil)
    [mail] = mails.received
    assert mails.recipients == ["ann@mail.test"]
    assert mail["Bcc"] is None
    assert "RCPT TO" in mail.get_content()


def test_it_logs_in_over_starttls_and_trusts_the_operators_authority(
    secured: Mails, authority: trustme.CA, tmp_path: Path
) -> None:
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    known = {"smtp_user": "me@mail.test", "smtp_password_env": "WORD"}
    [without] = sent(notifier(secured.port, **known), NOTICE)
    assert "CERTIFICATE_VERIFY_FAILED" in without.why
    assert secured.logins == []
    first, second = sent(notifier(secured.port, trusts=file, **known), NOTICE, NOTICE)
    assert (first.is_sent, second.is_sent, secured.were_secure) == (True, True, [True, True])
    assert secured.logins == [("me@mail.test", PASSWORD)] * 2


def test_a_server_without_starttls_gets_no_password() -> None:
    with mail_server(Mails(account=("me", PASSWORD))) as mails:
        [reply] = sent(notifier(mails.port, smtp_user="me", smtp_password_env="WORD"), NOTICE)
    assert not reply.is_sent
    assert "STARTTLS" in reply.why
    assert mails.logins == []


def test_a_server_that_repeats_the_password_does_not_make_us_tell_it() -> None:
    with mail_server(Mails(account=("me", PASSWORD), refuse_login=f"535 not {PASSWORD}, me")) as mails:
        by = notifier(mails.port, smtp_security="none", smtp_user="me", smtp_password_env="WORD")
        [reply] = sent(by, NOTICE)
    assert not reply.is_sent
    assert "535" in reply.why
    assert not any(part in reply.why for part in (PASSWORD, "p%41s", "w:rd"))


def test_what_a_mail_server_says_is_told_and_the_next_try_is_a_new_one() -> None:
    with mail_server(Mails(answers=["451 come back later", "550 no such person"])) as mails:
        later, never, well = sent(notifier(mails.port, smtp_security="none"), NOTICE, NOTICE, NOTICE)
    assert "451" in later.why
    assert "come back later" in later.why
    assert "550" in never.why
    assert well.is_sent
    assert len(mails.received) == 1


def test_a_start_that_takes_long_is_not_told_as_a_slow_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier_apprise, "_START_SECONDS", 0.0)
    with mail_server(Mails()) as mails:
        by = notifier(mails.port, smtp_security="none")
        [reply] = sent(by, NOTICE)
        monkeypatch.setattr(notifier_apprise, "_START_SECONDS", 45.0)
        [again] = sent(by, NOTICE)
    assert "did not start" in reply.why
    assert again.is_sent
    assert len(mails.received) == 1


def test_what_is_not_set_is_said() -> None:
    [mail] = sent(AppriseNotifier(NotifySettings(), NetSettings(), None), NOTICE)
    assert mail.why == "there is no mail server: notify.smtp_host is not set"
    [hook] = sent(AppriseNotifier(NotifySettings(), NetSettings(), None), Notice("slack", "t", "b"))
    assert hook.why == "review.notifications.slack_webhook_url is not set"
    [word] = sent(notifier(1, smtp_password_env="NO_SUCH_WORD"), NOTICE)
    assert "NO_SUCH_WORD is not set" in word.why


def test_a_password_that_no_login_can_send_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", "gehéim")
    [reply] = sent(notifier(1, smtp_user="me", smtp_password_env="WORD"), NOTICE)
    assert reply.why == "WORD holds characters besides ASCII, which no login to a mail server can send"


def test_without_apprise_a_hint_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier_apprise, "find_spec", lambda _: None)
    [reply] = sent(notifier(1), NOTICE)
    assert reply.why == 'Apprise is not installed: pip install "bailiwick[notify]"'


def test_further_services_are_named_without_their_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook_server([Says(500, b"no"), Says(204, b"")]) as posts:
        host = posts.url.partition("//")[2]
        monkeypatch.setenv("URLS", f"json://me:hushhush@{host}/tok-4711/?-x=y nosuch://tok-4711/hushhush")
        by = AppriseNotifier(NotifySettings(urls_env="URLS", timeout_seconds=5), NetSettings(), None)
        assert by.others == ("json 1", "nosuch 2")
        names = ("json 1", "json 1", "nosuch 2", "ntfy 9")
        refused, taken, unusable, lost = sent(by, *(Notice("other", "t", "b", name) for name in names))
    assert "500" in refused.why
    assert taken.is_sent
    assert [path for path, _ in posts.received] == ["/tok-4711/?x=y"] * 2
    assert not unusable.is_sent
    assert lost.why == "URLS holds no ntfy 9 any more"
    for reply in (refused, unusable):
        assert not any(secret in reply.why for secret in ("hushhush", "tok-4711"))


def test_a_variable_that_holds_no_addresses_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URLS", "ntfy://topic hush")
    with pytest.raises(SettingsError, match="number 2 in URLS is no address of Apprise"):
        _ = AppriseNotifier(NotifySettings(urls_env="URLS"), NetSettings(), None).others
