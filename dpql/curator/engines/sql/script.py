"""What a database would be asked for a plan, as text for people; no data are needed."""

from __future__ import annotations

from collections.abc import Mapping

from dpql.curator.compilation import compile_program
from dpql.curator.engines.sql.dialect import Dialect
from dpql.curator.engines.sql.duckdb import DUCKDB
from dpql.curator.engines.sql.postgres import POSTGRES
from dpql.curator.engines.sql.spark import SPARK
from dpql.curator.engines.sql.statements import row_count_text, statements
from dpql.curator.engines.sql.table import imagined_table
from dpql.errors import RunFault
from dpql.model.plan import Plan

DIALECTS: Mapping[str, Dialect] = {one.name: one for one in (DUCKDB, POSTGRES, SPARK)}


def statements_of(plan: Plan, engine: str) -> str:
    """Return the statements for a table that has the types of its declaration.

    Raises:
        RunFault: DPQL509, no SQL is made of the plan.
    """
    program = compile_program(plan)
    if program.unit is not None:
        raise RunFault.of(
            "DPQL509",
            f"no SQL for `{engine}`: this plan bounds what each `{program.unit}` "
            "contributes, which SQL does not",
            hint="`dpql explain --program` shows what it computes",
        )
    dialect = DIALECTS[engine]
    table = imagined_table(plan.spec.data, dialect)
    texts = [row_count_text(table)] if program.counts_rows else []
    texts += [statement.text for statement in statements(program, table)]
    return ";\n\n".join(texts) + ";\n"
