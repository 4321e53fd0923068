"""Whom a verifier trusts, for what and when: a file in OpenSSH's own format.

    steward@example.org namespaces="dpql-release",valid-before="20270601" ssh-ed25519 …

Unlike in OpenSSH, a key without ``namespaces`` is trusted for nothing: a role is given,
never assumed. Times count in whole days; a key must be valid all day.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from dpql.diagnostics import shown
from dpql.durable import read
from dpql.errors import VerifyFault
from dpql.reports.keys import ALGORITHM, PublicKey, read_public

RELEASE_ROLE = "dpql-release"
PLAN_ROLE = "dpql-plan"

_LIMIT = 1 << 20
_OPTION = re.compile(
    r'(?:(namespaces|valid-after|valid-before)="([^"\\]*)")(?:,|$)', re.ASCII
)
_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{4}(?:\d{2})?)?Z?", re.ASCII)
_PRINCIPAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._+-]{0,199}", re.ASCII)
_NAMESPACE = re.compile(r"[A-Za-z0-9@._-]{1,100}", re.ASCII)
_FOREIGN = re.compile(r"(?:ssh-|ecdsa-|sk-)[A-Za-z0-9@.-]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedKey:
    """A key with the names of its holder, its roles and its days."""

    principals: tuple[str, ...]
    key: PublicKey
    namespaces: frozenset[str]
    first: date | None
    until: date | None

    @property
    def principal(self) -> str:
        """The holder's first name."""
        return self.principals[0]

    def valid(self, day: date) -> bool:
        """Tell whether the key may be used all day."""
        return (self.first is None or self.first <= day) and (
            self.until is None or day < self.until
        )


@dataclass(frozen=True, slots=True)
class Trust:
    """All keys that a verifier trusts."""

    keys: tuple[TrustedKey, ...]

    def of(self, key_id: str) -> tuple[TrustedKey, ...]:
        """Return every line on the key with that fingerprint."""
        return tuple(one for one in self.keys if one.key.fingerprint == key_id)


def load_trust(path: Path) -> Trust:
    """Return the trust that a file states.

    Raises:
        VerifyFault: the file is missing or cannot be read, or a line is at fault
            (DPQL624).
    """
    name = shown(str(path), limit=400)
    try:
        data, _ = read(path, limit=_LIMIT)
        text = data.decode()
    except FileNotFoundError:
        raise VerifyFault.of(
            "DPQL624",
            f"there is no trust file `{name}`",
            hint="get the signers' keys from them: `dpql keys trust KEY WHO --role "
            "release` adds one; --trust FILE names another file",
        ) from None
    except (OSError, UnicodeError):
        raise VerifyFault.of(
            "DPQL624",
            f"the trust file `{name}` cannot be read as text",
            hint="name a plain file of lines like those of OpenSSH's allowed_signers",
        ) from None
    return parse_trust(text)


def parse_trust(text: str) -> Trust:
    """Return the trust that the text of an ``allowed_signers`` file states.

    Keys of other algorithms are skipped: dpql reads nothing that they sign.

    Raises:
        VerifyFault: a line cannot be understood wholly (DPQL624).
    """
    keys = []
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        found = _line(words)
        if found is None:
            raise VerifyFault.of(
                "DPQL624",
                f"line {number} of the trust file cannot be understood",
                hint='write: NAME namespaces="dpql-release" ssh-ed25519 KEY',
            )
        keys += [found] if isinstance(found, TrustedKey) else []
    return Trust(tuple(keys))


def trust_line(
    key: PublicKey,
    principal: str,
    namespaces: tuple[str, ...],
    *,
    first: date | None = None,
    until: date | None = None,
) -> str:
    """Return the line that trusts a key, without its newline.

    Raises:
        VerifyFault: the names would not be read back as they are (DPQL624).
    """
    options = [f'namespaces="{",".join(namespaces)}"']
    options += [f'valid-after="{first:%Y%m%d}"'] if first else []
    options += [f'valid-before="{until:%Y%m%d}"'] if until else []
    line = f"{principal} {','.join(options)} {key.line}"
    expected = TrustedKey(
        principals=(principal,),
        key=key,
        namespaces=frozenset(namespaces),
        first=first,
        until=until,
    )
    if parse_trust(line).keys != (expected,):
        raise VerifyFault.of(
            "DPQL624",
            "a name or a namespace has characters that a trust file cannot hold",
            hint="write a name like steward@example.org",
        )
    return line


def _line(words: list[str]) -> TrustedKey | str | None:
    """Return the key of a line, the name of a foreign algorithm, or None."""
    principals = tuple(words[0].split(","))
    if not all(_PRINCIPAL.fullmatch(name) for name in principals):
        return None
    index = next(
        (i for i, word in enumerate(words[1:3], start=1) if _FOREIGN.fullmatch(word)),
        None,
    )
    if index is None or index + 1 >= len(words):
        return None
    options = _options(words[1]) if index > 1 else {}
    if options is None:
        return None
    if words[index] != ALGORITHM:
        return words[index]
    key = read_public(words[index], words[index + 1])
    days = _days(options)
    namespaces = [name for name in options.get("namespaces", "").split(",") if name]
    if (
        key is None
        or days is None
        or not all(_NAMESPACE.fullmatch(name) for name in namespaces)
    ):
        return None
    first, until = days
    return TrustedKey(
        principals=principals,
        key=key,
        namespaces=frozenset(namespaces),
        first=first,
        until=until,
    )


def _options(text: str) -> dict[str, str] | None:
    """Return the options of a line; None if one is unknown, double or misspelt."""
    options: dict[str, str] = {}
    position = 0
    while position < len(text):
        found = _OPTION.match(text, position)
        if found is None or found[1] in options:
            return None
        options[found[1]] = found[2]
        position = found.end()
    return None if text.endswith(",") else options


def _days(options: dict[str, str]) -> tuple[date | None, date | None] | None:
    try:
        first = _day(options.get("valid-after"), up=True)
        until = _day(options.get("valid-before"), up=False)
    except (ValueError, OverflowError):
        return None
    return first, until


def _day(text: str | None, *, up: bool) -> date | None:
    """Return the day of a time; ``up`` moves a time within a day to the next day."""
    if text is None:
        return None
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError("not a time")
    day = date(int(found[1]), int(found[2]), int(found[3]))
    later = up and int(found[4] or "0") > 0
    return day + timedelta(days=1) if later else day
