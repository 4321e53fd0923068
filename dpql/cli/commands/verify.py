"""`dpql verify`: whether a release is to be believed, and how far."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.keys import TRUST
from dpql.cli.inputs.options import FORMAT
from dpql.cli.inputs.project import current_project
from dpql.cli.inputs.releases import head_of
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown
from dpql.errors import DpqlError

if TYPE_CHECKING:
    from dpql.ledger import Ledger
    from dpql.reports.verify import Verified

_GOOD, _WARNING = " ok", " !!"


@click.command(
    name="verify",
    epilog=examples(
        "dpql verify releases/2026-11-16-wages --trust allowed_signers",
        "dpql verify releases/2026-11-16-wages --ledger ledger.sqlite",
        "dpql verify release.dsse.json --plan approved.plan.json --format json",
        "dpql verify --page verify.html",
    ),
)
@click.argument(
    "path", metavar="RELEASE", required=False, type=click.Path(path_type=Path)
)
@TRUST
@click.option(
    "--ledger",
    "location",
    envvar="DPQL_LEDGER",
    metavar="FILE|URL",
    help="Refuse a release that this ledger does not know; that of dpql.toml, if it "
    "has the dataset.",
)
@click.option(
    "--plan",
    "expected",
    type=click.Path(path_type=Path),
    help="The plan that the release must be of.",
)
@click.option(
    "--page",
    "page",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a page that checks releases in a browser, without a network.",
)
@FORMAT
def command(
    *,
    path: Path | None,
    trust: Path,
    location: str | None,
    expected: Path | None,
    page: Path | None,
    form: str,
) -> int:
    """Check a release: signature, role, digests, claims, entry in the ledger.

    RELEASE is a folder or its release.dsse.json. Whatever cannot be checked is
    listed. The exit code is 4 when the release is not to be believed.

    With --page, dpql writes a page for people who do not have dpql: on it they drop a
    release and a trust file, and see what a browser can check.
    """
    if page is not None:
        _write_page(page)
        if path is None:
            return exit_codes.OK
    if path is None:
        raise click.UsageError("Missing argument 'RELEASE'.")
    from dpql.api.verification import verify_release
    from dpql.reports.trust import load_trust

    _require_there(path)
    ledger = _ledger(location, path)
    verified = verify_release(
        path,
        load_trust(trust),
        plan=files.plan_at(expected) if expected else None,
        ledger=ledger,
    )
    if form == "json":
        console.write_json(_document(verified))
    else:
        console.write(_text(verified))
    return exit_codes.OK


def _ledger(location: str | None, release: Path) -> Ledger | None:
    """Return the ledger that was named, or the project's if it has the dataset."""
    from dpql.ledger import open_ledger

    if location is not None:
        return open_ledger(location)
    project = current_project()
    usual = project.ledger if project else None
    if usual is None or ("://" not in usual and not Path(usual).is_file()):
        return None
    ledger = open_ledger(usual)
    with suppress(DpqlError):
        # Unverified: it only says which ledger is asked.
        if head_of(str(release)).dataset in ledger.datasets():
            return ledger
    return None


def _write_page(page: Path) -> None:
    from dpql.cli.ui.exit_codes import CommandFault
    from dpql.reports.verify_page import verify_page

    try:
        page.write_text(verify_page(), "utf-8", newline="\n")
    except OSError:
        name = shown(str(page), limit=400)
        raise CommandFault.of(
            "DPQL803", f"`{name}` cannot be written: its folder is missing or refuses"
        ) from None
    console.note(f"wrote {shown(str(page), limit=400)}; it is the same for all\n")


def _require_there(path: Path) -> None:
    """Refuse a path without a release before anything else is looked for."""
    from dpql.errors import VerifyFault
    from dpql.reports.file_names import ENVELOPE_NAME

    name = shown(str(path), limit=400)
    if not path.exists():
        words = f"there is no release at `{name}`"
    elif path.is_dir() and not (path / ENVELOPE_NAME).exists():
        words = f"the folder `{name}` holds no release: {ENVELOPE_NAME} is missing"
    else:
        return
    hint = f"give a release folder, or a {ENVELOPE_NAME}"
    inside = sorted(found.parent for found in path.glob(f"*/{ENVELOPE_NAME}"))
    if inside:
        hint = (
            f"give one of the {len(inside)} in it, such as `{shown(str(inside[-1]))}`"
        )
    raise VerifyFault.of("DPQL630", words, hint=hint)


def _text(verified: Verified) -> str:
    from dpql.cli.ui.table_width import fit_width

    lines = [
        f"{_WARNING if check.warning else _GOOD}  {check.name:<12} "
        f"{shown(check.text, limit=400)}"
        for check in verified.checks
    ]
    lines += [f" --  {'not checked':<12} {words}" for words in verified.unchecked]
    text = fit_width("\n".join(lines) + "\n", console.width())
    return "".join(_marked(line) for line in text.splitlines(keepends=True))


def _marked(line: str) -> str:
    """Colour the mark of a line, after its width was measured."""
    for mark, colour in ((_GOOD, "green"), (_WARNING, "red")):
        if line.startswith(mark):
            return console.styled(mark, fg=colour) + line.removeprefix(mark)
    return line


def _document(verified: Verified) -> dict[str, Any]:
    return {
        "verified": True,
        "release": verified.digest,
        "title": verified.predicate.title,
        "date": verified.day.isoformat(),
        "plan": verified.predicate.plan_digest,
        "epsilon": str(verified.predicate.guarantee.epsilon),
        "delta": str(verified.predicate.guarantee.delta),
        "signers": [signer.principal for signer in verified.signers],
        "reviewers": [who.principal for who in verified.approved.reviewers],
        "checks": [
            {"name": check.name, "text": check.text, "warning": check.warning}
            for check in verified.checks
        ],
        "unchecked": list(verified.unchecked),
    }
