"""`bailiwick domain`: the table of contents of what can be done with domains."""

import click

from bailiwick.cli.domain_bulk import merge, purge, reprioritize
from bailiwick.cli.domain_decide import approve, blacklist, no_funds, note, recrawl, reject, reset, resume, suspend
from bailiwick.cli.domain_import import import_
from bailiwick.cli.domain_lists import list_, top
from bailiwick.cli.domain_show import show
from bailiwick.cli.domain_submit import submit
from bailiwick.cli.domain_trust import trust

_ALIASES = {"status": "list", "info": "show", "recalculate-priorities": "reprioritize"}
"""Specification 002's names; not listed."""


class _Verbs(click.Group):
    """Commands in the order of a domain's life, and their other names."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, _ALIASES.get(cmd_name, cmd_name))


@click.group(cls=_Verbs)
def domain() -> None:
    """Submit, decide on, list and look after domains.

    A domain is named as you like: example.org, WWW.Example.org or a URL of it. Where several may be named, each is
    done on its own: an error with one does not stop the others, and the exit code is 1 if there was any. `status`
    and `info` are other names of `list` and `show`.
    """


for _command in (
    submit, import_, list_, show, approve, reject, suspend, resume, trust, blacklist, no_funds, note, recrawl, reset,
    top, reprioritize, merge, purge,
):  # fmt: skip
    domain.add_command(_command)
