"""The command `dpql`: commands that load when they are called, and one way out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from dpql import __version__
from dpql.cli import console, statuses

COMMANDS: dict[str, str] = {
    "demo": "Tell the whole story on made-up data.",
    "init": "Make a folder to begin with.",
    "check": "Find every fault of a spec, without data.",
    "fmt": "Lay specs out in canonical form; comments are kept.",
    "plan": "Show cost and accuracy; no data is read.",
    "diff": "Judge a change: weaker, stronger, the same, or to review.",
    "keys": "Make keys, and say whose signatures count.",
    "approve": "Sign a plan as its reviewer.",
    "run": "Execute a plan once: debit, noise, signature, release folder.",
    "rehearse": "Run a spec on invented rows.",
    "verify": "Check a release: signature, claims, place in the ledger.",
    "show": "Show a plan or a release for people.",
    "export": "Write a release in the form that others ask for.",
    "ledger": "Keep the budget of each dataset.",
    "explain": "Show the manual page of an error code or a word.",
    "schema": "Print a JSON Schema.",
    "completion": "Print the completion script of a shell.",
}
"""Every command with its line in the overview, in the order of the story."""

_HELP = """\
Differential privacy you can review before it runs, run exactly, and verify.

\b
  dpql demo                  the whole story, in a minute
  dpql check SPEC            what is wrong with it
  dpql plan SPEC             what it costs and how exact it will be
  dpql diff --base main SPEC what a change means
"""

_REPORT = """\
this is a bug in dpql, not in what you wrote; nothing more was done
  = hint: report it with the command and `dpql --version`; DPQL_DEBUG=1 shows details
"""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        found = import_module(f"dpql.cli.{cmd_name}").command
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            from dpql.diagnostics import shown

            close = get_close_matches(name, COMMANDS, n=1)
            meant = f" Did you mean `{close[0]}`?" if close else ""
            raise click.UsageError(f"there is no command `{shown(name)}`.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the overview from the table, importing nothing."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    name="dpql",
    cls=LazyGroup,
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="dpql", message="%(prog)s %(version)s")
def dpql() -> None:
    """Hold the commands together; the help text stands above."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    status = run(arguments)
    console.finish()
    sys.exit(status)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing is raised."""
    if not _debugging():
        # Warnings of an engine may say something about rows.
        import warnings

        warnings.simplefilter("ignore")
    try:
        return _status(_invoke(arguments))
    except click.ClickException as error:
        return _wrong_usage(error)
    except (click.Abort, KeyboardInterrupt, EOFError):
        console.note("\ninterrupted; `dpql ledger show` tells what was spent, if any\n")
        return statuses.INTERRUPTED
    except OSError as error:
        return _refused_by_system(error)
    except Exception as error:  # noqa: BLE001  nothing may leave as a traceback
        return _fault(error)


def _invoke(arguments: Sequence[str] | None) -> Any:
    return dpql.main(
        args=None if arguments is None else list(arguments),
        prog_name="dpql",
        standalone_mode=False,
    )


def _status(result: Any) -> int:
    return result if isinstance(result, int) else statuses.FINE


def _wrong_usage(error: click.ClickException) -> int:
    from dpql.diagnostics import shown

    lines = [f"dpql: {shown(error.format_message(), limit=400)}"]
    context = getattr(error, "ctx", None)
    if context is not None:
        lines.append(f"  = hint: `{context.command_path} --help` shows how")
    console.note("\n".join(lines) + "\n")
    return statuses.WRONG_USAGE


def _refused_by_system(error: OSError) -> int:
    from dpql.diagnostics import shown

    if _debugging():
        raise error
    name = f" `{shown(str(error.filename))}`" if error.filename else ""
    reason = (error.strerror or "no reason given").lower()
    console.note(f"DPQL800 the system refused{name}: {reason}\n")
    return statuses.AT_FAULT


def _fault(error: Exception) -> int:
    from dpql.errors import DpqlError

    if _debugging() and not isinstance(error, DpqlError):
        raise error
    if not isinstance(error, DpqlError):
        console.note(f"DPQL900 {type(error).__name__}: {_REPORT}")
        return statuses.BUG
    from dpql.diagnostics import render_text

    console.note(render_text(error.diagnostics) + "\n")
    return statuses.status_of(error)


def _debugging() -> bool:
    return os.environ.get("DPQL_DEBUG") == "1"
