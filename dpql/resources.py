"""Files that travel with dpql: found in a wheel and in a checkout alike."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def resource(name: str) -> Path:
    """Return the path of ``schemas/…`` or ``specs/…``.

    Raises:
        FileNotFoundError: the installation lacks it.
    """
    for root in (_PACKAGE / "data", _PACKAGE.parent):
        path = root / name
        if path.is_file():
            return path
    raise FileNotFoundError(name)


def schemas() -> dict[str, Path]:
    """Return the JSON Schemas by the word that names them: spec, plan, report."""
    for root in (_PACKAGE / "data", _PACKAGE.parent):
        # Of several versions the newest counts: it is the last of its name.
        found = sorted((root / "schemas").glob("*.v*.schema.json"))
        if found:
            return {path.name.partition(".")[0]: path for path in found}
    return {}
