"""`dpql completion`: completion of commands and options in a shell."""

from __future__ import annotations

import click

from dpql.cli import console, statuses
from dpql.cli.wording import examples


@click.command(
    name="completion",
    epilog=examples(
        "dpql completion bash > ~/.local/share/bash-completion/completions/dpql",
        "dpql completion zsh > ~/.zfunc/_dpql",
        "dpql completion fish > ~/.config/fish/completions/dpql.fish",
    ),
)
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
def command(*, shell: str) -> int:
    """Print the script that completes dpql's commands in SHELL."""
    from click.shell_completion import get_completion_class

    from dpql.cli.main import dpql

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(dpql, {}, "dpql", "_DPQL_COMPLETE")
    console.tell(script.source_template % script.source_vars())
    return statuses.FINE
