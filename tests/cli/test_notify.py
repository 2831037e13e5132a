"""Messages by the real program: addresses, decisions, sending, failures, secrets, settings that do not validate."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bailiwick.cli.main import main
from tests.backends.message_servers import Mails, Says, closed_port, mail_server, webhook_server
from tests.cli.tools import Ran
from tests.servers import TestServers

SLACK = "review.notifications.slack_webhook_url"
RECIPIENT = "review.notifications.email_recipient"


class Command:
    """The program by its own entry, in this process (there are many commands here), with a database of its own."""

    def __init__(self, url: str, mails: Mails) -> None:
        self.mails = mails
        self.env = {
            "BAILIWICK_DATABASE_URL": url,
            "BAILIWICK_NOTIFY_SMTP_HOST": "127.0.0.1",
            "BAILIWICK_NOTIFY_SMTP_PORT": str(mails.port),
            "BAILIWICK_NOTIFY_SMTP_SECURITY": "none",
        }


Run = Callable[..., Ran]


@pytest.fixture(scope="module")
def command(servers: TestServers) -> Iterator[Command]:
    with servers.cloned("pg18") as url, mail_server(Mails()) as mails:
        yield Command(url, mails)


@pytest.fixture
def run(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)

    def running(*arguments: str, code: int = 0, **env: str) -> Ran:
        with monkeypatch.context() as patch:
            for name, value in (command.env | env).items():
                patch.setenv(name, value)
            ran = Ran(main(list(arguments)), *capfd.readouterr())
        assert ran.code == code, ran
        return ran

    return running


def test_a_submitter_who_left_an_address_is_told_and_failures_are_seen(run: Run, command: Command) -> None:
    run("member", "add", "sam", "--role", "submitter")
    assert "no e-mail address" in run("member", "email", "sam", "nonsense", code=2).err
    assert "--remove" in run("member", "email", "sam", code=2).err
    assert run("member", "email", "sam", "sam@mail.test").out == "sam is told of decisions by e-mail\n"
    [row] = [row for row in run("member", "list", "--json").rows if row["name"] == "sam"]
    assert row["has_email"] is True
    run("--as", "sam", "domain", "submit", "told.example")
    run("domain", "reject", "told.example", "--reason", "off topic")
    broken = {"BAILIWICK_NOTIFY_SMTP_PORT": str(closed_port()), "BAILIWICK_NOTIFY_MAX_TRIES": "1"}
    [done] = run("notify", "send", "--json", code=1, **broken).rows
    assert done == {"sent": 0, "failed": 1, "given_up": 1}
    rows = run("notify", "list", "--state", "failed", "--json").rows
    [failed] = [row for row in rows if row["kind"] == "decision"]
    assert (failed["recipient"], failed["title"], failed["tries"]) == ("sam@mail.test", "told.example is rejected", 1)
    assert "refused" in failed["error"]
    assert " failed (bailiwick notify list --state failed)" in run("status").out
    assert "message 999999 has not failed" in run("notify", "retry", "999999", code=1).err
    assert "may not" in run("--as", "sam", "notify", "retry", "--all", code=2).err
    assert run("notify", "retry", str(failed["id"])).out == "1 message is tried again\n"
    assert run("notify", "send").out.split() == ["sent", "1", "failed", "0", "given", "up", "0"]
    mail = command.mails.received[-1]
    assert (mail["To"], mail["Subject"]) == ("sam@mail.test", "told.example is rejected")
    assert mail.get_content().strip() == "Why: off topic"
    assert "sam@mail.test" not in run("events", "--json", "--limit", "1000").out


def test_settings_that_do_not_validate_leave_the_old_ones(run: Run) -> None:
    run("settings", "set", RECIPIENT, "boss@mail.test")
    said = run("settings", "set", RECIPIENT, "nonsense", code=2).err
    assert said == f"error: {RECIPIENT}: this is no e-mail address (got 'nonsense')\n"
    assert run("settings", "show", RECIPIENT, "--json").rows[0]["value"] == "boss@mail.test"
    said = run("settings", "set", SLACK, "ftp://hush.test/x", code=2).err
    assert said == f"error: {SLACK}: this is no web address (https://…)\n"
    for threshold in ("0", "many"):
        assert "threshold" in run("settings", "set", "review.notifications.slack_threshold", threshold, code=2).err


def test_a_webhook_is_tested_and_shown_nowhere(run: Run) -> None:
    assert "slack_webhook_url is not set" in run("notify", "test", "slack", code=1).err
    with webhook_server([Says(), Says(404, b"no_service")]) as posts:
        url = f"{posts.url}/services/T0/B0/hush4711"
        seen = run("settings", "set", SLACK, url)
        outputs = [seen]
        inside = run("notify", "test", "slack", code=1)
        assert "the webhook's address is refused" in inside.err
        assert posts.received == []
        allowed = {"BAILIWICK_NET_ALLOW_PRIVATE_NETWORKS": "true"}
        assert run("notify", "test", "slack", **allowed).out == "slack: sent\n"
        assert posts.texts == ["*A test of Bailiwick*\nIf you can read this, messages of Bailiwick reach you."]
        outputs += [inside, run("notify", "test", "slack", code=1, **allowed)]
        assert outputs[-1].err == "error: slack: the webhook answered 404: no_service\n"
        tested = run("notify", "list", "--state", "failed", "--json").rows[0]
        assert (tested["kind"], tested["tries"]) == ("test", 1)
        assert "has not failed" in run("notify", "retry", str(tested["id"]), code=1).err
    for command in (
        ("settings", "show"),
        ("settings", "history", SLACK),
        ("events", "--json", "--limit", "1000"),
        ("-vv", "notify", "list", "--json"),
    ):
        outputs.append(run(*command))
    assert not any("hush4711" in ran.out + ran.err for ran in outputs)
    assert seen.out == f'{SLACK} = "********"\n'


def test_a_mail_is_tested(run: Run, command: Command) -> None:
    command.mails.received.clear()
    assert run("notify", "test", "email", "--to", "me@mail.test").out == "email me@mail.test: sent\n"
    assert [str(mail["To"]) for mail in command.mails.received] == ["me@mail.test"]
    assert "--to is for e-mail" in run("notify", "test", "slack", "--to", "me@mail.test", code=2).err
    assert "no further services" in run("notify", "test", "other", code=2).err
