"""What the manual says of every code.

The codes of later stages stand in `dpql.errors`; those of the language stand here,
where they cost nothing until somebody asks.
"""

from __future__ import annotations

from dpql.errors import CODES as LATER_CODES
from dpql.errors import Code
from dpql.manual.budget import BUDGET
from dpql.manual.command import COMMAND
from dpql.manual.meaning import MEANING
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
            **LATER_CODES,
            **RUNNING,
            **TRUST,
            **BUDGET,
            **COMMAND,
        }.items()
    )
)
"""Every code of dpql, in order."""
