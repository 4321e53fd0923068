"""How many parts a spec may have, in either form."""

from __future__ import annotations

import re

from dpql.errors import Span, SpecError
from dpql.language.source import Source
from dpql.model.limits import MOST_PARTS

# A quotation mark that is never closed takes the rest of its line, so that nothing is
# looked at twice.
_TOKEN = re.compile(
    r"""--.*|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`[^`\n]*`?|[\w./:]+|\S"""
)


def refuse_too_many(source: Source) -> None:
    """Count the tokens of query text before parsing: each takes some microseconds."""
    for count, match in enumerate(_TOKEN.finditer(source.text)):
        if count >= MOST_PARTS:
            raise too_many(source, source.stretch(match.start(), match.end()))


def too_many(source: Source, span: Span) -> SpecError:
    """Return the error that ends the reading of a spec with too many parts."""
    return source.fail(
        "DPQL115",
        f"the text has more than {MOST_PARTS} parts",
        span,
        "split the spec into several releases",
    )
