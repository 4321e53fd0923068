"""Tables of PostgreSQL: every type, one state, no comparison and no cast that fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import polars as pl
import psycopg
import pytest
from hypothesis import given
from postgres_tables import adbc, write
from tables import FEW, ID, REAL, TABLE, WHOLE, Rows, category, declare, expected, rows
from tables import tables as hostile_tables

from dpql.curator.sources import open_source
from dpql.curator.sources.postgres import table_at
from dpql.errors import RunFault
from dpql.ledger.data_identity import identify
from dpql.model.spec import Data, DateColumn, DropNulls, TimeColumn

DATA = declare(x=WHOLE, k=category("north", "1"))
ROWS: Rows = [(1, "north"), (2, "1")]

_MADE = """
    CREATE SCHEMA s; CREATE TABLE t (x int, k text);
    INSERT INTO t VALUES (1, 'north'), (2, '1');
    CREATE TABLE s."T ""2" AS TABLE t; CREATE TABLE s."a#b" AS TABLE t;
    CREATE VIEW v AS TABLE t; CREATE MATERIALIZED VIEW m AS TABLE t;
    CREATE TABLE parts (x int, k text) PARTITION BY LIST (x);
    CREATE TABLE parts1 PARTITION OF parts FOR VALUES IN (1);
    CREATE TABLE parts2 PARTITION OF parts FOR VALUES IN (2);
    INSERT INTO parts TABLE t;
    CREATE ROLE few LOGIN; CREATE TABLE hidden AS TABLE t;
    ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
    CREATE POLICY first ON hidden USING (x = 1);
    GRANT SELECT ON hidden, v TO few"""


@pytest.fixture(scope="session")
def database(postgres_server: str) -> str:
    """Make a database of some tables; return its address."""
    with psycopg.connect(f"{postgres_server}postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE sources")
    address = f"{postgres_server}sources"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(_MADE)
    return address


def _refused(frame: object, data: Data = DATA) -> str:
    with pytest.raises(RunFault) as caught:
        open_source(frame, data)
    return str(caught.value)


@pytest.fixture(params=["address", "psycopg", "adbc"])
def select(
    request: pytest.FixtureRequest, postgres_server: str
) -> Iterator[Callable[[str, str], object]]:
    """Give what makes a frame of a query, read in each of the three ways."""
    address = f"{postgres_server}postgres"

    def frame(types: str, values: str) -> object:
        name = f"t{uuid4().hex}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {name} ({types})")  # type: ignore[arg-type]
            connection.execute(f"INSERT INTO {name} VALUES {values}")  # type: ignore[arg-type]
        match request.param:
            case "address":
                return f"{address}#{name}"
            case "psycopg":
                return opened[0], name
        return opened[1], name

    with psycopg.connect(address) as own, adbc(address) as other:
        opened = own, other
        yield frame


@pytest.mark.parametrize(
    "name", ["t", "public.t", 's.T "2', "s.a#b", "m", "parts", "view:v", "view:t"]
)
def test_a_table_is_named_with_or_without_its_schema(name: str, database: str) -> None:
    """As it is stored, with any characters."""
    for scheme in ("postgresql://", "postgres://"):
        location = f"{scheme}{database.partition('://')[2]}#{name}"
        assert ROWS == rows(location, DATA)
        assert 2 == open_source(location, DATA).row_count()


@pytest.mark.parametrize("name", ["", "none", "T", "t; DROP TABLE t", "a.b.t", '"t"'])
def test_tables_that_are_not_there_are_refused(name: str, database: str) -> None:
    """A name is looked up and never run."""
    assert "DPQL501" in _refused(f"{database}#{name}")
    assert ROWS == rows(f"{database}#t", DATA)


def test_views_and_hidden_rows_need_a_word(database: str) -> None:
    """A view may fail on a row, and a policy hides rows, unless it is not for us."""
    assert "DPQL502 the data of `rows` are a view" in _refused(f"{database}#v")
    assert ROWS == rows(f"{database}#hidden", DATA)
    few = database.replace("//t@", "//few@")
    assert "DPQL502" in _refused(f"{few}#hidden")
    assert [(1, "north")] == rows(f"{few}#view:hidden", DATA)
    assert "DPQL501 the table of `rows` may not be read" in _refused(f"{few}#t")


_EVIL = """
    CREATE FUNCTION public.evil(numeric, numeric) RETURNS bool LANGUAGE plpgsql
    AS $$BEGIN RAISE EXCEPTION 'a cell'; END$$;
    CREATE OPERATOR public.<> (leftarg = numeric, rightarg = numeric, function = evil);
    CREATE FUNCTION public.row_security_active(oid) RETURNS bool LANGUAGE sql
    AS 'SELECT true';
    CREATE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql
    AS $$SELECT ''$$;
    CREATE TABLE public.plain (x numeric, k text);
    INSERT INTO public.plain VALUES (1, 'north'), (2, '1');
    CREATE VIEW public.shown AS TABLE public.plain;
    CREATE ROLE led LOGIN; GRANT SELECT ON public.plain TO led;
    ALTER ROLE led SET search_path = public, pg_catalog"""


def test_no_function_of_others_acts(postgres_server: str) -> None:
    """Whatever the search path of the role that connects names first."""
    with psycopg.connect(f"{postgres_server}postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE evil")
    with psycopg.connect(f"{postgres_server}evil", autocommit=True) as connection:
        connection.execute(_EVIL)
    address = f"{postgres_server}evil".replace("//t@", "//led@")
    for name in ("plain", "public.plain"):
        assert ROWS == rows(f"{address}#{name}", DATA)
        assert 2 == open_source(f"{address}#{name}", DATA).row_count()
    with psycopg.connect(address) as connection:
        assert ROWS == rows((connection, "plain"), DATA)
    assert "a view" in _refused(f"{address}#shown")


def test_a_part_on_another_server_needs_a_word(database: str) -> None:
    """It may fail on one row, as a table that is there by itself may."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            """CREATE FOREIGN DATA WRAPPER elsewhere;
            CREATE SERVER other FOREIGN DATA WRAPPER elsewhere;
            CREATE TABLE mixed (x int, k text); CREATE TABLE near () INHERITS (mixed);
            CREATE FOREIGN TABLE far () INHERITS (near) SERVER other"""
        )
    for name in ("mixed", "near"):
        assert "partly on another server" in _refused(f"{database}#{name}")
    assert "a view" in _refused(f"{database}#far")
    found = table_at(f"{database}#view:mixed", "rows")
    assert "mixed" == found.name
    found.session.end()


@pytest.mark.parametrize("way", ["address", "psycopg"])
def test_no_cell_is_too_long_to_be_sent(way: str, database: str) -> None:
    """One beyond half a mebibyte is null, so a row of such cells stops no other."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            """CREATE TABLE IF NOT EXISTS long (x int, k text, b bytea, c bpchar);
            TRUNCATE long; INSERT INTO long VALUES (1, 'a', 'b', 'c'),
            (2, repeat('a', 524288), repeat('b', 524288)::bytea, repeat('c', 524288)),
            (3, repeat('a', 524289), repeat('b', 524289)::bytea, repeat('c', 524289))"""
        )
        data = declare(x=WHOLE, k=ID, b=ID, c=ID)
        frame = f"{database}#long" if way == "address" else (connection, "long")
        first, second, third = rows(frame, data)
    assert (1, b"a", b"b", b"c") == first
    assert [2, 524288, 524288, 524288] == [2, *map(len, second[1:])]
    assert (3, None, None, None) == third


def test_options_of_an_address_reach_the_server(database: str) -> None:
    """A blank in them stays one."""
    options = "options=-c%20statement_timeout%3D7s%20-c%20lock_timeout%3D5s"
    session = table_at(f"{database}?{options}#t", "rows").session
    assert [("7s",)] == session.ask("SELECT current_setting('statement_timeout')")
    session.end()


def test_no_password_is_taken_or_told(database: str) -> None:
    """One in an address is refused, and so is a server that is not there."""
    secret = database.replace("//t@", "//t:hunter2@")
    for location in (
        f"{secret}#t",
        f"{database}?password=hunter2#t",
        f"{database}?sslpassword=hunter2#t",
        "postgresql://t:hunter2@[::1/x#t",
    ):
        found = _refused(location)
        assert "DPQL501" in found
        assert "hunter2" not in found
    found = _refused("postgresql://hunter2@127.0.0.1:1/x?connect_timeout=1#t")
    assert "DPQL501 the database of `rows` cannot be reached" in found
    assert "hunter2" not in found


def test_without_its_driver_an_address_is_refused(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hint says how to install it."""
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    with pytest.raises(RunFault, match="DPQL502") as caught:
        open_source(f"{database}#t", DATA)
    (fault,) = caught.value.diagnostics
    assert "install it: pip install 'dpql[postgres]'" == fault.hint


def test_a_connection_in_use_is_refused_and_left_alone(database: str) -> None:
    """All rows are read in a transaction of our own; theirs goes on."""
    with psycopg.connect(database) as connection:
        connection.execute("SELECT 1")
        assert "DPQL501 the connection" in _refused((connection, "t"))
    with psycopg.connect(database) as connection:
        assert ROWS == rows((connection, "t"), DATA)
        assert (1,) == connection.execute("SELECT 1").fetchone()
    with adbc(database) as other:
        assert ROWS == rows((other, "t"), DATA)
        with other.cursor() as cursor:
            cursor.execute("SELECT current_setting('transaction_read_only')")
            assert [("off",)] == cursor.fetchall()


def test_what_is_written_meanwhile_is_not_seen(database: str) -> None:
    """Counting and reading see one state of the table."""
    with psycopg.connect(database, autocommit=True) as writer:
        writer.execute("CREATE TABLE grows AS TABLE t")
    with (
        psycopg.connect(database, autocommit=True) as writer,
        psycopg.connect(database) as reader,
    ):
        for frame in (f"{database}#grows", (reader, "grows")):
            source = open_source(frame, DATA)
            before = source.row_count()
            writer.execute("INSERT INTO grows VALUES (3, NULL)")
            assert before == source.row_count()
            assert before == sum(source.batches(["x"], len))
            del source


def test_reading_cannot_write(database: str) -> None:
    """Not even by a view with a function that would."""
    with psycopg.connect(database, autocommit=True) as writer:
        writer.execute(
            """CREATE TABLE written (x int); CREATE FUNCTION writes() RETURNS int
            LANGUAGE sql AS 'INSERT INTO written VALUES (1) RETURNING 1';
            CREATE VIEW writing AS SELECT writes() AS x, k FROM t"""
        )
        source = open_source(f"{database}#view:writing", DATA)
        with pytest.raises(Exception, match="read-only"):
            list(source.batches(["x"], len))
        assert (0,) == writer.execute("SELECT count(*) FROM written").fetchone()


_NUMBERS = {
    "int2": ("-32768", "32767", "17"),
    "int8": (str(-(2**63)), str(2**63 - 1), "17"),
    "numeric": ("9" * 300, "-" + "9" * 300, "17", "17.5", "-17.5", "1e-400", "1e400"),
    "numeric(12,2)": ("0.1", "-0.5", "17.50", "1234567890.12"),
}


@pytest.mark.parametrize("dtype", _NUMBERS)
def test_numbers_are_exact(dtype: str, select: Callable[[str, str], object]) -> None:
    """None overflows, underflows or is rounded twice; ids and keys are their digits."""
    cells = _NUMBERS[dtype]
    stored = f"x {dtype}, y {dtype}, p {dtype}"
    frame = select(stored, ", ".join(f"({c}, {c}, {c})" for c in (*cells, "NULL")))
    text = pl.Series([*cells, None], dtype=pl.String)
    digits = [_digits(cell) for cell in cells]
    ids = pl.Series([*digits, None], dtype=pl.String)
    data = declare(x=WHOLE, y=REAL, p=ID)
    assert rows({"x": text, "y": text, "p": ids}, data) == rows(frame, data)


def _digits(cell: str) -> str:
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 1000
        found = format(Decimal(cell), "f")
    return found.rstrip("0").rstrip(".") if "." in found else found


def test_reals_are_doubles_without_nan(select: Callable[[str, str], object]) -> None:
    """NaN is null, of decimals too; infinities stay; nothing underflows."""
    frame = select(
        "y float8, z float4, n numeric",
        "('nan', 'nan', 'nan'), ('inf', '-inf', '-inf'), (1e-300, 0.1, 1e-300),"
        "(5e-324, 1e-45, 0), (NULL, NULL, NULL), ('-0', '-0', '-0')",
    )
    inf = float("inf")
    tenth = float(pl.Series([0.1], dtype=pl.Float32)[0])
    tiny = float(pl.Series([1e-45], dtype=pl.Float32)[0])
    wanted = [
        (None, None, None),
        (inf, -inf, -inf),
        (1e-300, tenth, 1e-300),
        (5e-324, tiny, 0.0),
        (None, None, None),
        (0.0, 0.0, 0.0),
    ]
    data = declare(y=REAL, z=REAL, n=REAL)
    assert sorted(wanted, key=repr) == rows(frame, data)


def test_no_collation_and_no_padding_joins_ids(
    postgres_server: str, select: Callable[[str, str], object]
) -> None:
    """Ids and keys are compared byte by byte, whatever their columns say."""
    with psycopg.connect(f"{postgres_server}postgres", autocommit=True) as connection:
        connection.execute(
            """CREATE COLLATION IF NOT EXISTS blind
            (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"""
        )
    frame = select(
        "p text COLLATE blind, k text COLLATE blind, c char(4)",
        "('a', 'a', 'a'), ('A', 'A', 'A '), ('á', 'á', 'b'), ('', '', ''),"
        "('a ', 'b', NULL)",
    )
    data = declare(p=ID, k=category("a", "b"), c=ID)
    wanted: Rows = [
        (b"a", "a", b"a"),
        (b"A", None, b"A"),
        ("á".encode(), None, b"b"),
        (None, None, None),
        (b"a ", "b", None),
    ]
    assert sorted(wanted, key=repr) == rows(frame, data)


_OTHERS: list[tuple[str, str, bytes | None]] = [
    ("varchar(9)", "'a'", b"a"),
    ("uuid", "'00000000-0000-0000-0000-0000000000aa'", None),
    ("bool", "true", b"true"),
    ("bytea", r"'\xff00'", b"\xff\0"),
    ("name", "'n'", b"n"),
    ('"char"', "'c'", b"c"),
    ("float4", "0.1", b"0.1"),
    ("float8", "3", b"3"),
    ("numeric", "'NaN'", None),
]


@pytest.mark.parametrize(("dtype", "value", "id_"), _OTHERS)
def test_cells_of_other_types_are_ids(
    dtype: str, value: str, id_: bytes | None, select: Callable[[str, str], object]
) -> None:
    """By the rules of every kind of data."""
    wanted = value.strip("'").encode() if dtype == "uuid" else id_
    frame = select(f"p {dtype}", f"({value}), (NULL)")
    assert sorted([(wanted,), (None,)], key=repr) == rows(frame, declare(p=ID))


def test_domains_and_enums_are_what_they_hold(
    postgres_server: str, select: Callable[[str, str], object]
) -> None:
    """A domain over a domain counts as its type, an enum as its words."""
    own = f"s{uuid4().hex}"
    with psycopg.connect(f"{postgres_server}postgres", autocommit=True) as connection:
        connection.execute(
            f"""CREATE SCHEMA {own}; CREATE TYPE {own}.mood AS ENUM ('good', 'bad');
            CREATE DOMAIN {own}.tiny AS int2;
            CREATE DOMAIN {own}.small AS {own}.tiny CHECK (value < 9)"""  # type: ignore[arg-type]
        )
    stored = f"x {own}.small, k {own}.mood"
    frame = select(stored, "(3, 'good'), (NULL, 'bad')")
    data = declare(x=WHOLE, k=category("good"))
    assert [(3, "good"), (None, None)] == rows(frame, data)


def test_days_and_moments_are_those_of_the_calendar(
    select: Callable[[str, str], object],
) -> None:
    """Infinite and far ones are null, whatever a driver makes of them."""
    frame = select(
        "d date, t timestamp, z timestamptz",
        "('2020-02-29', '2020-02-29 12:00:00.9', '2020-02-29 12:00+01'),"
        "('infinity', '-infinity', 'infinity'), (NULL, NULL, NULL),"
        "('5000000-01-01', '294276-12-31', '294276-12-31'),"
        "('0044-03-15 BC', '4713-01-02 BC', '4713-01-02 BC')",
    )
    data = replace(
        TABLE,
        columns=(
            DateColumn(name="d", first=0, last=9, nulls=DropNulls()),
            TimeColumn(name="t", first=0, last=9, step=1, zone=0, nulls=DropNulls()),
            TimeColumn(name="z", first=0, last=9, step=1, zone=0, nulls=DropNulls()),
        ),
    )
    noon = 18_321 * 86_400 + 12 * 3600
    wanted = [(18_321, noon, noon - 3600), *[(None, None, None)] * 4]
    assert sorted(wanted, key=repr) == rows(frame, data)


@pytest.mark.parametrize("dtype", ["text", "varchar", "char(3)", "uuid", "bytea"])
def test_text_is_no_number(dtype: str, select: Callable[[str, str], object]) -> None:
    """It is refused by the type of its column, whatever it holds."""
    frame = select(f"x {dtype}", "(NULL)")
    found = _refused(frame, declare(x=WHOLE))
    assert "DPQL504 column `x` is of type" in found
    assert "which cannot hold numbers" in found


@pytest.mark.parametrize(
    "dtype", ["json", "int[]", "interval", "point", "money", "xml", "inet", "oid"]
)
def test_other_types_are_refused_by_name(
    dtype: str, select: Callable[[str, str], object]
) -> None:
    """Lists and structures hold no cells of any form; undeclared ones do not matter."""
    frame = select(f"p {dtype}, q int", "(NULL, 1)")
    assert "DPQL504 column `p` is of type" in _refused(frame, declare(p=ID))
    assert [(b"1",)] == rows(frame, declare(q=ID))


def test_a_decimal_is_no_category(select: Callable[[str, str], object]) -> None:
    """As in every other kind of data."""
    frame = select("k numeric(3, 1)", "(1.0)")
    assert "DPQL504" in _refused(frame, declare(k=category("1")))


def test_missing_columns_are_refused(database: str) -> None:
    """Names are compared as they are, and what was dropped is not there."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE less AS TABLE t; ALTER TABLE less DROP x")
    assert "DPQL503 no column `x`" in _refused(f"{database}#less")
    assert "DPQL503 no column `X`" in _refused(f"{database}#t", declare(X=WHOLE))


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_text_is_never_converted(encoding: str, postgres_server: str) -> None:
    """A conversion may fail on a cell: bytes come as they are, or not at all."""
    with psycopg.connect(f"{postgres_server}postgres", autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {encoding} ENCODING '{encoding}' "  # type: ignore[arg-type]
            "LOCALE 'C' TEMPLATE template0"
        )
    address = f"{postgres_server}{encoding.lower()}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (p text, k text)")
        connection.execute(rb"INSERT INTO t VALUES (E'\xe9', E'\xe9'), ('a', 'a')")
    data = declare(p=ID, k=category("a"))
    if encoding == "LATIN1":
        assert "DPQL502" in _refused(f"{address}#t", data)
    else:
        wanted = [(b"\xe9", None), (b"a", "a")]
        assert sorted(wanted, key=repr) == rows(f"{address}#t", data)
        with psycopg.connect(address) as own:
            assert sorted(wanted, key=repr) == rows((own, "t"), data)


def test_identity_is_what_the_server_says(database: str) -> None:
    """Spellings and parts of one table have one identity, which holds no secret."""

    def identity(location: str) -> str:
        return table_at(location, "t").identity().partition(" ")[0]

    plain = identity(f"{database}#t")
    local = database.replace("127.0.0.1", "localhost")
    for spelling in (
        f"{database}#public.t",
        f"{database}?application_name=x#t",
        f"{local.replace('postgresql', 'postgres')}#t",
        f"{database}#view:t",
    ):
        assert plain == identity(spelling)
    assert identity(f"{database}#parts") == identity(f"{database}#parts1")
    names = ("t", "parts", 's.T "2')
    assert len(names) == len({identity(f"{database}#{name}") for name in names})
    whole = table_at(f"{database}#t", "t").identity()
    assert whole.startswith("postgresql:")
    assert whole.endswith("public.t")
    assert "t@" not in whole


def test_a_blank_in_a_database_joins_no_tables(postgres_server: str) -> None:
    """What is compared of an identity ends at the first blank."""
    with psycopg.connect(f"{postgres_server}postgres", autocommit=True) as connection:
        connection.execute('CREATE DATABASE "of two words"')
    address = f"{postgres_server}of%20two%20words"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE one (x int); CREATE TABLE two (x int)")
    found = [table_at(f"{address}#{name}", "x").identity() for name in ("one", "two")]
    one, two = map(identify, found)
    assert one is not None
    assert two is not None
    assert not one.overlaps(two)
    assert not one.is_within(two)


@given(frame=hostile_tables())
@FEW
def test_hostile_tables_mean_what_they_hold(
    postgres_server: str, frame: pl.DataFrame
) -> None:
    """Any cells that PostgreSQL can hold, read in each way."""
    for name in ("whole", "real"):
        if frame[name].dtype in (pl.String, pl.Categorical):
            frame = frame.with_columns(
                frame[name].cast(pl.String).cast(pl.Float64, strict=False)
            )
    for series in frame:
        if series.dtype in (pl.String, pl.Categorical):
            texts = [cell and cell.replace("\0", "?") for cell in series.to_list()]
            frame = frame.with_columns(pl.Series(series.name, texts, pl.String))
    # PostgreSQL has no unsigned integers, and polars no text of small floats to keep.
    frame = frame.with_columns(pl.selectors.by_dtype(pl.UInt64).cast(pl.Decimal(38, 0)))
    if isinstance(frame["word"].dtype, pl.Decimal):
        frame = frame.with_columns(pl.col("word").cast(pl.Float64))
    location = write(postgres_server, frame)
    wanted = expected(frame, TABLE)
    assert wanted == rows(location, TABLE)
    address, _, name = location.partition("#")
    with psycopg.connect(address) as connection:
        assert wanted == rows((connection, name), TABLE)


@pytest.mark.parametrize("way", ["address", "psycopg"])
def test_many_rows_come_in_batches(way: str, database: str) -> None:
    """Large tables are never held at once, and reading may end early."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            """CREATE TABLE IF NOT EXISTS many AS SELECT g AS x, NULLIF(g % 3, 2)::text
            AS k FROM generate_series(1, 300000) g"""
        )
    with psycopg.connect(database) as connection:
        frame: Any = f"{database}#many" if way == "address" else (connection, "many")
        source = open_source(frame, DATA)
        sizes = list(source.batches(["x", "k"], len))
        assert 300_000 == sum(sizes)
        assert len(sizes) > 1
        found = sum(source.batches(["x"], lambda part: int(part["x"].sum())))
        assert 300_000 * 300_001 // 2 == found
        early = source.batches(["x"], len)
        next(early)
        early.close()
        del early, source
