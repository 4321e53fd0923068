"""The command `dpql`: commands that load when they are called, and one way out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import NoReturn

import click

from dpql import __version__
from dpql.cli.ui import console, exit_codes, interrupts
from dpql.errors import DpqlError, InternalFault

COMMANDS: dict[str, str] = {
    "demo": "Show every step on made-up data.",
    "init": "Start a new project folder.",
    "check": "Find every fault of a spec, without data.",
    "fmt": "Format specs in canonical form; comments are kept.",
    "plan": "Show cost and accuracy; no data is read.",
    "diff": "Judge a change: weaker, stronger, the same, or to review.",
    "keys": "Make keys, and say whose signatures count.",
    "approve": "Sign a plan as its reviewer.",
    "preflight": "Say how well data fit a spec; for their owner, not private.",
    "run": "Execute a plan once: debit, noise, signature, release folder.",
    "rehearse": "Run a spec on invented rows.",
    "verify": "Check a release: signature, claims, entry in the ledger.",
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

_INTERRUPTED = "`dpql ledger show` shows what was spent, if anything was"

_FULL = "free disk space or ask for permission; no file is left half-written"

_BUG = (
    "this is a bug in dpql, not in what you wrote; report it with the command and "
    "`dpql --version` (DPQL_DEBUG=1 shows details)"
)


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
        found = import_module(f"dpql.cli.commands.{cmd_name}").command
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from dpql.cli.ui.usage_faults import unknown_command

            raise unknown_command(name, COMMANDS, "dpql")
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
    console.prepare()
    status = run(arguments)
    interrupts.ignore()
    console.finish()
    interrupts.forget()
    sys.exit(status)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing is raised."""
    if not _debugging():
        # Warnings of an engine may say something about rows.
        import warnings

        warnings.simplefilter("ignore")
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        result = dpql.main(words, prog_name="dpql", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        if _debugging() and not isinstance(error, _EXPECTED):
            raise
        with interrupts.ignored():
            return _reported(error, words)
    return result if isinstance(result, int) else exit_codes.OK


_EXPECTED = (DpqlError, click.ClickException, click.Abort, KeyboardInterrupt)


def _reported(error: BaseException, words: list[str]) -> int:
    """Say what went wrong, to people and to whoever asked for JSON."""
    if type(error).__name__ == "NoArgsIsHelpError":
        console.note(f"{error}\n")
        return exit_codes.WRONG_USAGE
    from dpql.cli.ui.faults import report

    fault = _fault(error, words)
    status = exit_codes.exit_code_of(fault)
    report(fault, status, document=_wants_json(words))
    return status


def _fault(error: BaseException, words: list[str]) -> DpqlError:
    """Return the fault that an exception amounts to."""
    match error:
        case DpqlError():
            return error
        case click.Abort() | KeyboardInterrupt() | EOFError():
            kind = exit_codes.Interrupted
            return kind.of("DPQL807", "interrupted", hint=_INTERRUPTED)
        case click.ClickException():
            from dpql.cli.ui.usage_faults import fault_of

            return fault_of(error, words)
        case OSError():
            return _refused_by_system(error)
        case _:
            name = type(error).__name__
            return InternalFault.of("DPQL900", f"unexpected {name}", hint=_BUG)


def _refused_by_system(error: OSError) -> DpqlError:
    from dpql.diagnostics import shown

    name = f" `{shown(str(error.filename), limit=400)}`" if error.filename else ""
    reason = (error.strerror or "no reason given").lower()
    return exit_codes.CommandFault.of(
        "DPQL800", f"the system refused{name}: {reason}", hint=_FULL
    )


def _wants_json(words: list[str]) -> bool:
    """Tell whether a document was asked for, however little of the rest was right."""
    return "--format=json" in words or ("--format", "json") in pairwise(words)


def _debugging() -> bool:
    return os.environ.get("DPQL_DEBUG") == "1"
