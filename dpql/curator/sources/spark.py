"""Tables of Spark: found through a session, classic or Connect, as a DataFrame.

    spark:catalog.schema.table             of the active session, or a local one
    spark:sc://host:15002#schema.table     of a server that speaks Spark Connect
    spark:local[4]#parquet.`/data/wages`   files, by a master

Formats that are text are no tables: Spark would infer their types from their rows.
A table of a format with versions is read at the version that it has now.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from dpql.errors import RunFault

SCHEME = "spark:"
VIEW = "view:"
"""Before the name of what may fail on a row."""

_LOCATION = re.compile(
    r"(?P<url>(?:sc://|spark://|k8s://|yarn\b|local\b)[^#]*)#(?P<name>.+)", re.DOTALL
)
_FILES = re.compile(r"(?P<form>parquet|orc|avro|delta)\.`(?P<path>[^`]+)`", re.DOTALL)
_ANSI = "spark.sql.ansi.enabled"
_VERSIONS: Mapping[str, str] = {
    "delta": "DESCRIBE HISTORY {0} LIMIT 1",
    "iceberg": "SELECT max_by(snapshot_id, made_current_at) FROM {0}.history",
}
"""Format -> what gives the version of a table, first of the first row.

A snapshot of Iceberg that was rolled back is not the one that is current.
"""

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
}
_LOCAL_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_FAMILIES = ("py4j", "pyspark", "grpc")
"""Loggers of Python, and families of them, that print what Spark says: cells, too."""

_SILENT = logging.CRITICAL + 1

_lock = threading.Lock()
_inside: list[None] = []
_heard: list[tuple[logging.Logger, int, bool]] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkTable:
    """A table: its rows, the session, and what it is to a ledger, if it has a name."""

    session: Any = field(repr=False)
    frame: Any = field(repr=False)
    identity: str | None = None


def is_frame(thing: object) -> bool:
    """Tell whether a thing is a DataFrame of Spark."""
    return _is_pyspark(thing) and hasattr(thing, "mapInArrow")


def is_session(thing: object) -> bool:
    """Tell whether a thing is a session of Spark."""
    return _is_pyspark(thing) and type(thing).__name__ == "SparkSession"


def _is_pyspark(thing: object) -> bool:
    return type(thing).__module__.startswith("pyspark.sql.")


def with_url(location: str, url: str | None) -> str:
    """Return a location with the URL of a server or a master, if it has none yet."""
    rest = location.removeprefix(SCHEME)
    if url is None or not location.startswith(SCHEME) or _LOCATION.fullmatch(rest):
        return location
    return f"{SCHEME}{url}#{rest}"


def table_at(location: str, source: str) -> SparkTable:
    """Return the table at a location.

    Raises:
        RunFault: DPQL501, no server or table; DPQL502, a view, or no Spark here.
    """
    rest = location.removeprefix(SCHEME)
    found = _LOCATION.fullmatch(rest)
    url, name = (found["url"], found["name"]) if found else (None, rest)
    return table_of(_session(url, source), name, source)


def table_of(session: Any, name: str, source: str) -> SparkTable:
    """Return a table of a session.

    Raises:
        RunFault: DPQL501, there is none; DPQL502, it is a view or of text, or the
            session does not follow ANSI.
    """
    with silenced(session):
        require_ansi(session, source)
        allowed = name.startswith(VIEW)
        name = name.removeprefix(VIEW)
        files = _FILES.fullmatch(name)
        try:
            if files is not None:
                frame = _versioned(session, name, files["form"])
                return _opened(session, frame, _file_identity(files["path"]))
            found = session.catalog.getTable(name)
        except RunFault:
            raise
        except Exception:  # noqa: BLE001  what Spark says may quote anything
            raise RunFault.of(
                "DPQL501",
                f"no such table in Spark for the data of `{source}`",
                hint="name it: spark:catalog.schema.table, or spark:parquet.`/folder`",
            ) from None
        if not allowed and (found.isTemporary or "VIEW" in found.tableType):
            raise RunFault.of(
                "DPQL502",
                f"the data of `{source}` are a view, and a view may fail on one row",
                hint=f"name a table, or take it as it is: {SCHEME}{VIEW}{name}",
            )
        return _named(session, found, source)


def _named(session: Any, found: Any, source: str) -> SparkTable:
    """Return a table of a catalog, by its full name."""
    parts = [found.catalog, *(found.namespace or []), found.name]
    quoted = ".".join(
        "`" + part.replace("`", "``") + "`" for part in parts if part is not None
    )
    try:
        form = None if found.isTemporary else _provider(session, quoted)
        frame = _versioned(session, quoted, form)
        # Catalogs take names in any case, as a rule; those that do not share a budget.
        identity = SCHEME + ".".join(x for x in parts if x is not None).lower()
        return _opened(session, frame, None if found.isTemporary else identity)
    except Exception:  # noqa: BLE001  the same
        raise RunFault.of(
            "DPQL501",
            f"the table of `{source}` may not be read",
            hint="look whether the session may SELECT from it",
        ) from None


def _opened(session: Any, frame: Any, identity: str | None) -> SparkTable:
    # Analysed now: a missing table is noticed before any row.
    _ = frame.columns
    return SparkTable(session=session, frame=frame, identity=identity)


def _file_identity(path: str) -> str:
    """Return files as other sources name them, so that they have one budget."""
    return re.sub(r"^s3[an]://", "s3://", path)


def _provider(session: Any, quoted: str) -> str | None:
    """Return the format of a table, if its catalog says it."""
    with suppress(Exception):
        for row in session.sql(f"DESCRIBE TABLE EXTENDED {quoted}").collect():
            if str(row[0]).strip() == "Provider":
                return str(row[1]).strip().lower()
    return None


def _versioned(session: Any, quoted: str, form: str | None) -> Any:
    """Return a table, at the version that it has now if its format has versions."""
    asked = _VERSIONS.get(form or "")
    if asked is None:
        return session.table(quoted)
    rows = session.sql(asked.format(quoted)).collect()
    version = rows[0][0] if rows else None
    if version is None:
        # Nothing was ever written to it.
        return session.table(quoted)
    return session.sql(f"SELECT * FROM {quoted} VERSION AS OF {int(version)}")  # noqa: S608


def require_ansi(session: Any, source: str) -> None:
    """Refuse a session whose sums would wrap around and whose casts would be null.

    Raises:
        RunFault: DPQL502.
    """
    if str(session.conf.get(_ANSI)).lower() != "true":
        raise RunFault.of(
            "DPQL502",
            f"the Spark session for the data of `{source}` does not follow ANSI SQL",
            hint=f"set {_ANSI} to true, which it is by default",
        )


def _session(url: str | None, source: str) -> Any:
    """Return the session at a URL, or the active one, or one of this machine."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise RunFault.of(
            "DPQL502",
            f"the data of `{source}` are in Spark, which is not installed",
            hint="install it: pip install 'dpql[spark]'",
        ) from None
    try:
        active = None if url else SparkSession.getActiveSession()
        return active or _started(SparkSession.builder, url or "local[*]")
    except Exception:  # noqa: BLE001  the message may quote an address with a token
        raise RunFault.of(
            "DPQL501",
            f"the Spark of `{source}` cannot be reached",
            hint="look whether the server answers, and whether Java 17 is here",
        ) from None


def _started(builder: Any, url: str) -> Any:
    if url.startswith("sc://"):
        return builder.remote(url).getOrCreate()
    # What runs on this machine runs this Python, with this dpql.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local = url.startswith("local")
    for name, value in (_SETTINGS | (_LOCAL_SETTINGS if local else {})).items():
        builder = builder.config(name, value)
    return builder.master(url).getOrCreate()


@contextmanager
def silenced(session: Any) -> Iterator[None]:
    """Keep Spark from printing errors, which quote cells, in Python and in its JVM."""
    with _lock:
        if not _inside:
            _heard.extend((one, one.level, one.disabled) for one in _loggers())
            for one, _, _ in _heard:
                one.disabled = True
                one.setLevel(_SILENT)
        _inside.append(None)
    level = _root_level(session)
    if level is not None:
        session.sparkContext.setLogLevel("OFF")
    try:
        yield
    finally:
        if level is not None:
            with suppress(Exception):
                session.sparkContext.setLogLevel(level)
        with _lock:
            _inside.pop()
            if not _inside:
                for one, before, disabled in _heard:
                    one.setLevel(before)
                    one.disabled = disabled
                _heard.clear()


def _loggers() -> list[logging.Logger]:
    """Return what may print; loggers made later have the level of their family."""
    known = [
        name
        for name in logging.root.manager.loggerDict
        if name.partition(".")[0] in _FAMILIES
    ]
    return [logging.getLogger(name) for name in {*_LOGGERS, *_FAMILIES, *known}]


def _root_level(session: Any) -> str | None:
    """Return the log level of the session's JVM; None where there is none here."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        return None
    with suppress(Exception):
        manager = session.sparkContext._jvm.org.apache.logging.log4j.LogManager  # noqa: SLF001
        return str(manager.getRootLogger().getLevel().toString())
    return None
