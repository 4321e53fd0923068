"""Mutated specs, to see that every refusal is a refusal.

Run ``python tests/language/fuzz.py COUNT [SEED [specs|expressions]]`` for a long hunt.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from dpql.diagnostics import render_concise, render_text
from dpql.errors import SpecError
from dpql.language import format_text, load_text

if __name__ == "__main__":
    from flights import flights
    from samples import GALLERY, REFERENCE, beside
else:
    from language.flights import flights
    from language.samples import GALLERY, REFERENCE, beside

SLOWEST = 2.0
"""Seconds that one reading may take at most."""

TOKENS = (
    *"[]{}:,#&*!|>'\"%@`?-~\\\t\n\r\x00\x1b\x7f\x85\u2028\u202e\ufeff\xa0é𝔘",
    *("<<", "---", "...", "null", "~", ".nan", ".inf", "1e400", "0x1F", "010", "12:30"),
    *("not ", "and ", "in [", "((((", "))))", "== ", "\x1b[31m", "[[[[", "!!python/x "),
    *(
        "- ",
        "? ",
        "--",
        "spend",
        "where ",
        "1/0",
        "1" * 70,
        "-0",
        "9" * 400,
        "&a ",
        "*a ",
    ),
    *("epsilon: 1\n", "  ", "\n\n", "{a: b}", "by: [", "💥" * 3, "\ud800"),
)


@dataclass
class Findings:
    """What a hunt found."""

    count: int = 0
    accepted: int = 0
    slowest: float = 0.0
    codes: Counter[str] = field(default_factory=Counter)
    strays: list[str] = field(default_factory=list)
    raw: int = 0


def seeds() -> list[tuple[str, str]]:
    """Return the specs to start from, with their form."""
    found = [("yaml", REFERENCE)]
    for path in GALLERY:
        for suffix in ("yaml", "dpql"):
            twin = path.with_suffix(f".{suffix}")
            found.append((suffix, twin.read_text(encoding="utf-8")))
    return found


def _insert(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(TOKENS) + text[at:]


def _delete(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + text[at + draw.choice((1, 1, 2, 5, 40)) :]


def _flip(text: str, draw: random.Random) -> str:
    content = bytearray(text.encode("utf-8", "replace"))
    if content:
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return content.decode("utf-8", "replace")


def _swap_lines(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    i, j = (draw.randrange(len(lines)) for _ in range(2))
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def _repeat_line(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    at = draw.randrange(len(lines))
    return "\n".join(lines[:at] + [lines[at]] * draw.choice((2, 2, 3, 50)) + lines[at:])


def _drop_line(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    del lines[draw.randrange(len(lines))]
    return "\n".join(lines)


def _indent_line(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    at = draw.randrange(len(lines))
    lines[at] = " " * draw.randrange(8) + lines[at].lstrip()
    return "\n".join(lines)


def _replace_word(text: str, draw: random.Random) -> str:
    words = text.split(" ")
    words[draw.randrange(len(words))] = draw.choice([*TOKENS, draw.choice(words)])
    return " ".join(words)


def _nest(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    opening, closing = draw.choice(("[]", "()", "{}", ("{a: ", "}"), ("not ", "")))
    depth = draw.choice((2, 30, 40, 2_000))
    return text[:at] + opening * depth + "x" + closing * depth + text[at:]


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    _insert,
    _delete,
    _flip,
    _swap_lines,
    _repeat_line,
    _drop_line,
    _indent_line,
    _replace_word,
    _nest,
)


def hunt(count: int, seed: int) -> Findings:
    """Read so many mutated specs and return what happened."""
    draw = random.Random(seed)
    starts = seeds()
    findings = Findings()
    while findings.count < count:
        form, text = draw.choice(starts)
        for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
            text = draw.choice(MUTATIONS)(text, draw)
        if draw.randrange(50) == 0:
            form = draw.choice(("yaml", "dpql"))
        _read(text, form, findings, layout=draw.randrange(10) == 0)
        findings.count += 1
    return findings


EXPRESSIONS = (
    "arr_delay - dep_delay * 2 // 15 > max(distance, 100)",
    "case(arr_delay > 15 and not big, 1, is_null(dep_delay), 2, -air_time)",
    "div(distance, air_time, lower: 0, upper: 20, step: 0.1) between 1 and 2",
    "bands(distance - 1, [1, 500, 1_000, 5_000])",
    "map(carrier, {UA: big, 'AA': \"very big\"}, else: small, missing: none)",
    "map(month(when), {2013-01: winter, '2013-07': summer})",
    "when between 2013-02-01 and 2013-03-01 and left < 2013-06-01 12:30",
    "carrier in [UA, AA, 'DL'] or month == 12 or month in [1, 2, 3]",
    "coalesce(`odd name`, 1/3) + round(abs(arr_delay), 1e-1) != hour(left)",
    "year(when) == 2013 and weekday(when) >= 6 and day(left) != '2013-01-01'",
    "((((arr_delay))) == -(-(dep_delay))) == (big is not null)",
    "min(arr_delay, dep_delay, 0) in [1, 2, -3e2] and UA",
)
PARTS = (
    *("arr_delay", "carrier", "when", "left", "big", "UA", "`odd name`", "nothing"),
    *(" + ", " - ", " * ", " // ", " / ", " % ", "-", "--", "**", "//", " == ", "!="),
    *(" < ", " >= ", "=", " and ", " or ", "not ", " in ", " between ", " is null"),
    *("min(", "max(", "abs(", "round(", "div(", "case(", "coalesce(", "is_null("),
    *(
        "bands(",
        "map(",
        "month(",
        "hour(",
        "week(",
        "year(",
        "sqrt(",
        "(",
        ")",
        "[",
        "]",
    ),
    *("{", "}", ",", ":", "else:", "missing:", "file:", "'x.txt'", "'/etc/passwd'"),
    *("0", "1", "-1", "1/0", "1/3", "1e308", "1e-308", "9" * 63, "1" * 70, "1_000"),
    *("2013-01-01", "2013-02-30", "0000-00-00", "9999-12-31", "2013-01-01 24:00"),
    *("2013-W01", "2013-Q5", "2013-13", "true", "false", "null", "'true'", '"UA"'),
    *("'", '"', "`", "\\", "\n", " ", "é", "аrr_delay", "ﬁ", "\u202e", "\x00", "💥"),
    *("((((((((((", "))))))))))", "not not not ", "- - - - ", "1 + 1 + 1 + 1 + "),
)
"""What expressions are made of, and what they should not be made of."""


def mutated(draw: random.Random) -> str:
    """Return an expression that somebody has tampered with."""
    text = draw.choice(EXPRESSIONS)
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        at = draw.randrange(len(text) + 1)
        match draw.randrange(6):
            case 0:
                text = text[:at] + draw.choice(PARTS) + text[at:]
            case 1:
                text = text[:at] + text[at + draw.choice((1, 1, 3, 10)) :]
            case 2:
                words = text.split(" ")
                words[draw.randrange(len(words))] = draw.choice(PARTS)
                text = " ".join(words)
            case 3:
                other = draw.choice(EXPRESSIONS)
                text = text[:at] + other[draw.randrange(len(other)) :]
            case 4:
                depth = draw.choice((2, 31, 33, 400))
                opening, closing = draw.choice((("(", ")"), ("abs(", ")"), ("-", "")))
                text = opening * depth + text + closing * depth
            case _:
                text = draw.choice((text + " ", f"{text} and {text}", text * 30))
    return text


def hunt_expressions(count: int, seed: int) -> Findings:
    """Read so many mutated expressions, in both forms, and return what happened."""
    draw = random.Random(seed)
    findings = Findings()
    frames = {
        form: format_text(flights(derived="AAA", where="BBB"), form="yaml", to=form)
        for form in ("yaml", "dpql")
    }
    while findings.count < count:
        form = draw.choice(("yaml", "dpql"))
        both = [mutated(draw), draw.choice((mutated(draw), "distance > 100"))]
        if form == "yaml":
            # Quotes of YAML hide nothing of the expression from its own parser.
            both = [json.dumps(text, ensure_ascii=draw.random() < 0.5) for text in both]
        text = frames[form].replace("AAA", both[0]).replace("BBB", both[1])
        _read(text, form, findings, layout=draw.randrange(10) == 0)
        findings.count += 1
    return findings


def _read(text: str, form: str, findings: Findings, *, layout: bool) -> None:
    began = time.process_time()
    try:
        load_text(text, form=form, beside=beside)
        findings.accepted += 1
        if layout:
            once = format_text(text, form=form)
            if once != format_text(once, form=form):
                findings.strays.append(f"not idempotent: {text!r}")
    except SpecError as error:
        findings.codes.update(fault.code for fault in error.diagnostics)
        shown = render_text(error.diagnostics) + render_concise(error.diagnostics)
        if not all(part.isprintable() for part in shown.split("\n")):
            findings.raw += 1
    except Exception:  # noqa: BLE001  every stray is what the hunt is for
        findings.strays.append(f"{traceback.format_exc()}\n{form} {text!r}")
    findings.slowest = max(findings.slowest, time.process_time() - began)


def main() -> int:
    """Hunt and print what was found."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    began = time.perf_counter()
    hunters = {"specs": hunt, "expressions": hunt_expressions}
    findings = hunters[sys.argv[3] if len(sys.argv) > 3 else "specs"](count, seed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{findings.count} specs in {time.perf_counter() - began:.0f} s, "
        f"{findings.accepted} accepted, {len(findings.strays)} strays, "
        f"{findings.raw} raw, slowest {findings.slowest:.3f} s, peak {peak} MiB, "
        f"{len(findings.codes)} codes"
    )
    for stray in findings.strays[:5]:
        print(stray[-3_000:])
    return 1 if findings.strays or findings.raw or findings.slowest > SLOWEST else 0


if __name__ == "__main__":
    sys.exit(main())
