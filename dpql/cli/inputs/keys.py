"""Where keys are and how their passphrases are asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.options import ProjectOption
from dpql.cli.ui import console
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.reports.keys import PublicKey, Signer

_FOLDER = "keys"

KEY = click.option(
    "--key",
    cls=ProjectOption,
    setting="key",
    required=True,
    metavar="NAME|FILE",
    help="The key that signs: a file, or a name in keys/ (or DPQL_KEYS).",
)

TRUST_FILE = Path("allowed_signers")
"""The trust file of a folder, where nobody names another."""

TRUST = click.option(
    "--trust",
    cls=ProjectOption,
    setting="trust",
    envvar="DPQL_TRUST",
    default=str(TRUST_FILE),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Whose signatures count, for what and until when.",
)

PASSPHRASE = click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path),
    help="A file whose first line is the passphrase.",
)


def key_path(name: str) -> Path:
    """Return the file of a key: a path as it is, a bare name in the folder of keys."""
    if os.sep in name or name.startswith("."):
        return Path(name)
    inside = Path(os.environ.get("DPQL_KEYS") or _FOLDER) / name
    return inside if inside.exists() or not Path(name).exists() else Path(name)


def signer_of(name: str, passphrase_file: Path | None) -> Signer:
    """Return the key of that name; ask for its passphrase where there is somebody.

    Raises:
        VerifyFault: there is no such key, or it cannot be opened (62x).
    """
    from dpql.errors import VerifyFault
    from dpql.reports.keys import load_key

    path = key_path(name)
    if path.suffix == ".pub":
        raise VerifyFault.of(
            "DPQL620",
            f"`{shown(path.name)}` is the public half of a key, which signs nothing",
            hint=f"--key names the private half: `{shown(path.stem)}`",
        )
    given = passphrase_in(passphrase_file)
    try:
        return load_key(path, given)
    except VerifyFault as fault:
        locked = any(each.code == "DPQL622" for each in fault.diagnostics)
        if given is not None or not locked or not console.is_terminal(sys.stdin):
            raise
    return load_key(path, asked(f"passphrase of {path.name}"))


def public_key(name: str) -> PublicKey:
    """Return the public half of a key, named as its private half or by its file."""
    from dpql.reports.keys import public_of

    path = key_path(name)
    return public_of(
        path if path.suffix == ".pub" else path.with_name(f"{path.name}.pub")
    )


def passphrase_in(path: Path | None) -> bytes | None:
    """Return the first line of a file, None when no file is named."""
    if path is None:
        return None
    return files.contents(path, limit=1 << 16).split(b"\n", 1)[0].rstrip(b"\r")


def asked(question: str, *, twice: bool = False) -> bytes:
    """Ask for a passphrase on the terminal, unseen."""
    answer: str = click.prompt(
        question, hide_input=True, confirmation_prompt=twice, err=True
    )
    return answer.encode("utf-8")
