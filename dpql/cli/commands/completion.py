"""`dpql completion`: completion of commands and options in a shell."""

from __future__ import annotations

import click

from dpql.cli.inputs.options import FORMAT
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples


@click.command(
    name="completion",
    epilog=examples(
        "dpql completion bash > ~/.local/share/bash-completion/completions/dpql",
        "dpql completion zsh > ~/.zfunc/_dpql",
        "dpql completion fish > ~/.config/fish/completions/dpql.fish",
    ),
)
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@FORMAT
def command(*, shell: str, form: str) -> int:
    """Print the script that completes dpql's commands in SHELL."""
    from click.shell_completion import get_completion_class

    from dpql.cli.main import dpql

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(dpql, {}, "dpql", "_DPQL_COMPLETE")
    text = script.source_template % script.source_vars()
    if form == "json":
        console.write_json({"shell": shell, "script": text})
    else:
        console.write(text)
    return exit_codes.OK
