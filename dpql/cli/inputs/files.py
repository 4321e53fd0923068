"""Files that commands find, read and write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dpql.cli.ui.exit_codes import CommandFault
from dpql.diagnostics import shown
from dpql.model.plan import LIMIT, Plan

_SUFFIXES = (".yaml", ".yml", ".dpql")
_MARK = b"dpql:"


def specs_in(
    paths: Iterable[Path], *, allow_none: bool = False, datasets: bool = False
) -> list[Path]:
    """Return the specs named, with those inside the folders named.

    With ``datasets`` the dataset files inside the folders come along.

    Raises:
        CommandFault: a folder holds none, and that is not allowed (DPQL804), or
            something in it cannot be read (DPQL803).
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        try:
            inside = sorted(
                file
                for file in path.rglob("*")
                if is_spec(file) or (datasets and is_dataset_file(file))
            )
        except OSError as error:
            name = shown(str(error.filename or path), limit=400)
            raise CommandFault.of(
                "DPQL803",
                f"cannot read `{name}`: {_reason(error)}",
                hint="name the folder of your specs alone, or the files",
            ) from error
        if not inside and not allow_none:
            raise CommandFault.of(
                "DPQL804",
                f"there is no spec in `{shown(str(path), limit=400)}`",
                hint="a spec is a .dpql file, or a .yaml file with a line `dpql: 1`",
            )
        found += inside
    return found


def is_spec(path: Path) -> bool:
    """Tell whether a file exists and is a spec."""
    if not may_be_spec(path) or not path.is_file():
        return False
    return path.suffix == ".dpql" or reads_as_spec(path, path.read_bytes())


def may_be_spec(path: Path) -> bool:
    """Tell whether a spec may have that name."""
    return path.suffix in _SUFFIXES


def reads_as_spec(path: Path, content: bytes) -> bool:
    """Tell whether a file of that name with that content is a spec."""
    if path.suffix == ".dpql":
        return True
    lines = content.splitlines()
    marked = any(line.startswith(_MARK) for line in lines)
    return marked and not _declares_dataset(lines)


def is_dataset_file(path: Path) -> bool:
    """Tell whether a file exists and is a dataset file."""
    if path.suffix not in _SUFFIXES[:2] or not path.is_file():
        return False
    lines = path.read_bytes().splitlines()
    return any(line.startswith(_MARK) for line in lines) and _declares_dataset(lines)


def _declares_dataset(lines: list[bytes]) -> bool:
    return any(line.startswith(b"dataset:") for line in lines)


def plan_at(path: Path, *, current: bool = False) -> Plan:
    """Return the plan in a file, audited, or the plan of the spec in it.

    Raises:
        PlanFault: a ``current`` plan is wanted, and it is of an older format (DPQL404).
    """
    from dpql import api

    if path.suffix != ".json":
        return api.plan(api.load(path))
    plan = api.read(path)
    if current:
        plan.require_current()
    return plan


def stem(path: Path) -> str:
    """Return the name that a spec, its plan and its approvals share."""
    return path.name.removesuffix(".plan.json").removesuffix(path.suffix)


def specs_beside(path: Path) -> list[Path]:
    """Return the specs that share their name with a plan."""
    paths = [path.with_name(stem(path) + suffix) for suffix in _SUFFIXES]
    return [one for one in paths if one.is_file()]


def contents(path: Path, *, limit: int = LIMIT) -> bytes:
    """Return the bytes of a file of moderate size.

    Raises:
        CommandFault: it cannot be read (DPQL803).
    """
    from dpql import durable

    try:
        return durable.read(path, limit=limit)[0]
    except (OSError, ValueError) as error:
        raise CommandFault.of(
            "DPQL803", f"cannot read `{shown(str(path), limit=400)}`: {_reason(error)}"
        ) from error


def save(path: Path, content: bytes) -> None:
    """Write a file wholly or not at all, in place of one of that name.

    Raises:
        CommandFault: it cannot be written (DPQL801).
    """
    from dpql import durable

    try:
        durable.replace(path, content)
    except (OSError, ValueError) as error:
        raise _unwritten(path, error) from error


def save_new(path: Path, content: bytes) -> None:
    """Write a file wholly or not at all; FileExistsError when the name is taken.

    Raises:
        CommandFault: it cannot be written (DPQL801).
    """
    from dpql import durable

    try:
        durable.create(path, content)
    except FileExistsError:
        raise
    except (OSError, ValueError) as error:
        raise _unwritten(path, error) from error


def _unwritten(path: Path, error: Exception) -> CommandFault:
    return CommandFault.of(
        "DPQL801",
        f"cannot write `{shown(str(path), limit=400)}`: {_reason(error)}",
        hint="name a file in a folder that exists and that you may write to",
    )


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
