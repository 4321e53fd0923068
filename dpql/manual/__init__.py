"""Every error code and every term, as text: the only place that explains them.

Code that refuses something names a code and writes a message; it imports nothing from
here. Only the command line shows these pages, and docs/reference/errors.md is made of
them.
"""

from __future__ import annotations

from dpql.manual.budget import BUDGET
from dpql.manual.code import Code
from dpql.manual.command import COMMAND
from dpql.manual.files import FILES
from dpql.manual.internal import INTERNAL
from dpql.manual.meaning import MEANING
from dpql.manual.planning import PLANNING
from dpql.manual.running import RUNNING
from dpql.manual.shape import SHAPE
from dpql.manual.syntax import SYNTAX
from dpql.manual.trust import TRUST

CODES: dict[str, Code] = dict(
    sorted(
        {
            **SYNTAX,
            **SHAPE,
            **MEANING,
            **FILES,
            **PLANNING,
            **RUNNING,
            **TRUST,
            **BUDGET,
            **COMMAND,
            **INTERNAL,
        }.items()
    )
)
"""Every code of dpql, in order."""
