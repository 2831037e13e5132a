"""`bailiwick completion`: the shell's own help with typing."""

import click

_INSTALL = {
    "bash": """in ~/.bashrc:  eval "$(bailiwick completion bash)\"""",
    "zsh": """in ~/.zshrc:  eval "$(bailiwick completion zsh)\"""",
    "fish": "bailiwick completion fish > ~/.config/fish/completions/bailiwick.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(sorted(_INSTALL)))
def completion(shell: str) -> None:
    """Print the script that completes commands and options in your shell.

    \b
    bash  in ~/.bashrc:  eval "$(bailiwick completion bash)"
    zsh   in ~/.zshrc:   eval "$(bailiwick completion zsh)"
    fish  bailiwick completion fish > ~/.config/fish/completions/bailiwick.fish
    """
    from click.shell_completion import get_completion_class

    from bailiwick.cli.main import cli

    writer = get_completion_class(shell)
    if writer is None:
        raise click.UsageError(f"there is no completion for {shell}")
    click.echo(writer(cli, {}, "bailiwick", "_BAILIWICK_COMPLETE").source().rstrip())
    click.echo(f"# To install: {_INSTALL[shell]}")
