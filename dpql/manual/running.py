"""The manual of DPQL5xx: the data do not fit the plan."""

from __future__ import annotations

from dpql.manual.code import Code

RUNNING: dict[str, Code] = {
    "DPQL500": Code(
        title="the data are not bound to the name that the plan reads",
        cause=(
            "A plan names its source. Exactly that name must be bound to data when the "
            "plan is run, and no other."
        ),
        wrong="--data salaries=wages.parquet",
        right="--data wages=wages.parquet",
    ),
    "DPQL501": Code(
        title="there is no such file or table",
        cause=(
            "The path, pattern or URL given for the data leads to no file or table "
            "that can be read: there is none, it may not be opened, no server answers, "
            "or the address holds a password, which belongs into ~/.pgpass."
        ),
        wrong="--data wages=wagse.parquet",
        right="--data wages=wages.parquet",
    ),
    "DPQL502": Code(
        title="the data are of no kind that can be read",
        cause=(
            "Rows come as parquet, csv, tsv, ndjson or Arrow files, all of one kind, "
            "recognised by suffix; text may end in .gz or .zst behind it, and is "
            "damaged if it cannot be decompressed; or as a frame of polars or "
            "pandas, a mapping of equally long columns, or an object with the Arrow C "
            "stream interface; or as a table of DuckDB, PostgreSQL or Spark. "
            "A view may fail "
            "on one row and is refused unless the location says `view:` before it."
        ),
        wrong="--data wages=wages.xlsx",
        right="--data wages=wages.parquet",
    ),
    "DPQL503": Code(
        title="a declared column is missing from the data",
        cause=(
            "Every column that the spec declares must be in the data once, by its "
            "name, in every file of them."
        ),
        wrong="a file without the column `age`",
        right="a file with all declared columns; others are ignored",
    ),
    "DPQL504": Code(
        title="a column has a type that cannot hold what is declared",
        cause=(
            "Numbers are read from numeric, boolean and text columns, in PostgreSQL "
            "not from text; categories from text, categorical, integer, float and "
            "boolean ones; ids from these, decimals and bytes. Lists and structures "
            "are read as none of them."
        ),
        wrong="`age` stored as a list",
        right="`age` stored as an integer",
    ),
    "DPQL505": Code(
        title="the data do not have the declared number of rows",
        cause=(
            "Under replace_one the number of rows is public and every mean divides by "
            "it, so another number is refused. The message names the declared one only."
        ),
        wrong="rows: {exactly: 1_000}, and data of another size",
        right="rows: {exactly: 1_000}, and data of 1000 rows",
    ),
    "DPQL506": Code(
        title="there is no such engine",
        cause="An engine is chosen by its name from the table of engines.",
        wrong="--engine pandas",
        right="--engine polars",
    ),
    "DPQL507": Code(
        title="a rehearsal cannot have so many rows",
        cause=(
            "A rehearsal invents at least one row, and exactly the declared number "
            "where that is public."
        ),
        wrong="--rows 0",
        right="--rows 1000",
    ),
    "DPQL508": Code(
        title="a forked process cannot run",
        cause=(
            "A forked process has none of its parent's threads. If the parent had used "
            "polars, by a run or otherwise, polars waits for them in the child for "
            "ever; a parent that only imported it does no harm. Nothing was read or "
            "spent."
        ),
        wrong='multiprocessing.get_context("fork").Process(target=release)',
        right='multiprocessing.get_context("spawn").Process(target=release)',
    ),
    "DPQL509": Code(
        title="the engine cannot compute this plan",
        cause=(
            "The engines `duckdb` and `postgres` sum rows by SQL where they lie. They "
            "do not bound what a unit contributes, for SQL would rank all rows again "
            "for every statistic. Without `--engine` the rows are read and bounded "
            "here, which is faster, too."
        ),
        wrong="a plan with `unit: person_id`, and --engine duckdb",
        right="the same plan, without --engine",
    ),
    "DPQL510": Code(
        title="the engine failed",
        cause=(
            "Reading or adding up the rows failed: a damaged file, a query that fails, "
            "no memory. Messages of engines quote private cells, so they are withheld."
        ),
        wrong="a parquet file with damaged pages",
        right="a whole file; look at it with the engine itself, where that is allowed",
    ),
    "DPQL511": Code(
        title="the data are a pipe, a socket or a device",
        cause=(
            "Data are read several times, and from their end, so only regular files "
            "are read. Reading a pipe might never end, with its budget reserved; so it "
            "is refused by its kind, before anything is opened or reserved."
        ),
        wrong="--data wages=<(zcat wages.csv.gz)",
        right="zcat wages.csv.gz > wages.csv; --data wages=wages.csv",
    ),
    "DPQL512": Code(
        title="the executors of Spark cannot sum the data",
        cause=(
            "Where units are bounded, executors run dpql on their partitions. They "
            "need the same Python and the same dpql and polars as here, and pyarrow. "
            "That is looked at before any row."
        ),
        wrong="a cluster without dpql",
        right="pip install 'dpql[spark]' on every executor, and PYSPARK_PYTHON there",
    ),
}
