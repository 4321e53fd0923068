"""The same data are known whatever way leads to them."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from ledger.ledger_stores import DATASET, Stores, count_plan

from dpql.errors import LedgerFault
from dpql.ledger import Ledger
from dpql.ledger.data_identity import DataIdentity, identify
from dpql.model.spec import Neighbours

AZURE = "acc.dfs.core.windows.net"


def _identity(frame: object) -> DataIdentity:
    where = identify(frame)
    assert where is not None
    return where


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with two files, as the working directory."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "rows.csv").write_text("region\na\n", "utf-8")
    (folder / "other.csv").write_text("region\nb\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


def _linked(data: Path) -> object:
    (data.parent / "link.csv").symlink_to(data / "rows.csv")
    return "link.csv"


def _hard_linked(data: Path) -> object:
    os.link(data / "rows.csv", data.parent / "hard.csv")
    return "hard.csv"


def _in_a_folder(data: Path) -> object:
    folder = data.parent / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "part.csv").symlink_to(data / "rows.csv")
    return "folder"


def _in_a_linked_folder(data: Path) -> object:
    folder = data.parent / "folder"
    folder.mkdir()
    (folder / "linked").symlink_to(data)
    (data / "round").symlink_to(folder)
    return folder


def _among_others(data: Path) -> object:
    (data.parent / "many").mkdir()
    (data.parent / "many" / "new.csv").touch()
    os.link(data / "rows.csv", data.parent / "many" / "old.csv")
    return "many/*.csv"


WAYS: dict[str, Callable[[Path], object]] = {
    "path": lambda data: str(data / "rows.csv"),
    "relative": lambda _: "data/../data/./rows.csv",
    "a path of ours": lambda _: Path("data") / "rows.csv",
    "file address": lambda data: f"file://{data}/rows.csv",
    "short file address": lambda data: f"FILE:{data}/rows.csv",
    "address with a host": lambda data: f"file://localhost{data}/rows.csv",
    "escaped address": lambda data: f"file://{data}/%72ows.csv",
    "address as a path": lambda data: Path(f"file://{data}/rows.csv"),
    "home": lambda _: "~/data/rows.csv",
    "pattern": lambda _: "data/r*.csv",
    "pattern of folders": lambda _: "**/rows.csv",
    "pattern in an address": lambda data: f"file://{data}/*.csv",
    "folder": lambda _: "data",
    "folder above": lambda data: data.parent,
    "folder with a slash": lambda _: "data/",
    "link": _linked,
    "hard link": _hard_linked,
    "linked in a folder": _in_a_folder,
    "folder linked in a folder": _in_a_linked_folder,
    "among others": _among_others,
    "descriptor": lambda data: f"/proc/self/fd/{os.open(data / 'rows.csv', 0)}",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_way_to_a_file_is_known(
    data: Path, way: Callable[[Path], object]
) -> None:
    """Renaming, linking, globbing and addressing lead to the same budget."""
    bound = _identity(str(data / "rows.csv"))
    where = _identity(way(data))
    assert where.overlaps(bound)
    assert bound.overlaps(where)
    assert _identity(bound.text).overlaps(where)


@pytest.mark.parametrize(
    "other",
    ["data/other.csv", "data/none.csv", "none/*.csv", "rows.csv", "https://a/b"],
)
def test_other_files_are_other_data(data: Path, other: str) -> None:
    """A file beside, a file that is not there, an address: none is the bound file."""
    assert not _identity(other).overlaps(_identity(data / "rows.csv"))


def test_file_that_comes_later_is_known_by_its_path(data: Path) -> None:
    """A location may be bound before there are data."""
    bound = _identity(str(data / "later.csv"))
    assert _identity("data/later.csv").overlaps(bound)
    assert _identity("data").overlaps(bound)
    assert not _identity("data/rows.csv").overlaps(bound)


def test_what_is_within_a_location(data: Path) -> None:
    """Parts of bound data are bound; anything beside them is not."""
    folder = _identity("data")
    assert _identity("data/rows.csv").is_within(folder)
    assert _identity("data/*.csv").is_within(folder)
    assert _identity(f"file://{data}").is_within(folder)
    assert not folder.is_within(_identity("data/rows.csv"))
    assert not _identity("data/none.csv").is_within(folder)
    assert _identity("data/none.csv").is_within(_identity("data/none.csv"))
    (data.parent / "outside.csv").touch()
    assert not _identity("*.csv").is_within(folder)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a.org/x.csv", "https://a.org/x.csv", True),
        ("https://a.org/x.csv", "HTTP://me:pw@A.org:80/y/../x.csv#z", True),
        ("https://a.org/x.csv", "https://a.org/x.csv?token=1", True),
        ("https://a.org/x.csv", "https://a.org/%78.csv", True),
        ("https://a.org/x.csv", "https://a.org/y.csv", False),
        ("https://a.org/x.csv", "https://a.org:8080/x.csv", False),
        ("https://a.org/x.csv", "https://b.org/x.csv", False),
        ("s3://bucket/x.parquet", "s3a://bucket//x.parquet", True),
        ("s3://bucket/t", "s3://bucket/t/part.parquet", True),
        ("s3://bucket/x.parquet?region=eu", "s3://bucket/x.parquet", True),
        ("s3://bucket/x.parquet?region=eu", "s3://bucket/y.parquet", False),
        ("s3://bucket/t/*.parquet", "s3://bucket/t/part.parquet", True),
        ("s3://bucket/t/*.parquet", "s3://bucket/t/", True),
        ("s3://bucket/a*.parquet", "s3://bucket/?b.parquet", True),
        ("s3://bucket/a/*.parquet", "s3://bucket/b/*.parquet", False),
        ("s3://bucket/t", "s3://bucket/table.parquet", False),
        ("s3://bucket/x.parquet", "gs://bucket/x.parquet", False),
        ("https://[broken/x", "https://[broken/x", True),
        ("https://a.org/x.csv", "https://a.org./x.csv", True),
        ("https://a.org/x.csv", "https://a.org.:443/x.csv", True),
        ("gs://bucket/x.csv", "gcs://bucket/x.csv", True),
        (f"abfss://c@{AZURE}/x.csv", f"abfs://c@{AZURE}/x.csv", True),
        (f"abfss://c@{AZURE}/x.csv", f"az://C@{AZURE.upper()}./x.csv", True),
        (f"abfss://c@{AZURE}/x.csv", "az://c@acc.blob.core.windows.net/x.csv", True),
        (f"abfss://c@{AZURE}/x.csv", "az://c@acc/x.csv", True),
        (f"abfss://c@{AZURE}/t", f"az://c@{AZURE}/t/*.csv?enable_tls=true", True),
        (f"abfss://c@{AZURE}/x.csv", f"abfss://d@{AZURE}/x.csv", False),
        (f"abfss://c@{AZURE}/x.csv", "abfss://c@b.dfs.core.windows.net/x.csv", False),
        (f"abfss://c@{AZURE}/x.csv", "az://c@acc.dfs.core.example/x.csv", False),
        (f"abfss://c@{AZURE}/x.csv", "s3://c@acc/x.csv", False),
    ],
)
def test_addresses_are_compared_in_one_spelling(
    one: str, other: str, *, same: bool
) -> None:
    """Case, ports, dots, passwords and questions make no other data."""
    assert _identity(one).overlaps(_identity(other)) is same
    assert _identity(other).overlaps(_identity(one)) is same


def test_parts_of_an_address_lie_in_it() -> None:
    """A file of a bound folder or pattern is bound, one beside it is not."""
    folder, pattern = _identity("s3://bucket/t/"), _identity("s3://bucket/t/*.parquet")
    part = _identity("s3://bucket/t/part.parquet")
    assert part.is_within(folder)
    assert part.is_within(pattern)
    assert not _identity("s3://bucket/u/part.parquet").is_within(folder)
    options = "?endpoint_override=localhost:9000&scheme=http&region=eu"
    assert _identity(f"s3://bucket/t/part.parquet{options}").is_within(part)
    assert part.is_within(_identity(f"s3://bucket/t/part.parquet{options}"))
    assert not _identity("s3://bucket/t/part.parquet?x=1").is_within(part)
    assert not folder.is_within(pattern)


def test_data_in_memory_have_no_identity() -> None:
    """A table in memory is the owner's word."""
    assert identify({"region": ["a"]}) is None
    assert identify(None) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "a\0b*",
        "file:",
        "file://",
        "://",
        "~nobody",
        "~a\0b",
        "duckdb:\ud800#t",
        "duckdb:a\0b#t",
    ],
)
def test_strange_texts_are_locations_too(text: str) -> None:
    """No text raises anything."""
    assert _identity(text).overlaps(_identity(text))


def _open(ledger: Ledger, name: str, location: str) -> None:
    ledger.open_account(
        name,
        cap=Fraction(1),
        unit=None,
        neighbours=Neighbours.ADD_REMOVE,
        location=location,
    )


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_no_way_leads_past_a_budget(data: Path, way: Callable[[Path], object]) -> None:
    """Bound data are refused to every other name, when opened and when run."""
    _, ledger = Stores(folder=data.parent).make()
    _open(ledger, "bound", str(data / "rows.csv"))
    where = way(data)
    for attempt in (
        lambda: ledger.refuse_foreign_data(DATASET, where),
        lambda: _open(ledger, "second", str(where)),
    ):
        with pytest.raises(LedgerFault) as refusal:
            attempt()
        assert refusal.value.diagnostics[0].code == "DPQL716"


def _moving(stores: Stores, data: Path) -> Ledger:
    """Give a ledger whose dataset is bound, has spent, and whose data then move."""
    _, ledger = stores.make()
    ledger.open_account(
        "bound",
        cap=Fraction(2),
        unit=None,
        neighbours=Neighbours.ADD_REMOVE,
        location=str(data / "rows.csv"),
    )
    ledger.reserve("bound", count_plan())
    (data / "rows.csv").rename(data.parent / "moved.csv")
    return ledger


def test_moved_data_are_bound_anew_and_keep_their_budget(
    stores: Stores, data: Path
) -> None:
    """The cure is named; it is an entry of the chain, and gives nothing back."""
    ledger = _moving(stores, data)
    with pytest.raises(LedgerFault) as refusal:
        ledger.refuse_foreign_data("bound", "moved.csv")
    (why,) = refusal.value.diagnostics
    assert why.code == "DPQL716"
    assert "dpql ledger bind bound --data" in (why.hint or "")
    before = ledger.account("bound")
    after = ledger.bind("bound", "moved.csv")
    ledger.refuse_foreign_data("bound", "moved.csv")
    assert after == ledger.verify("bound")
    assert after.seq == before.seq + 1
    assert after.locations == (str(data / "rows.csv"), str(data.parent / "moved.csv"))
    kept = ("cap", "committed", "unit", "neighbours", "approvals", "mark", "runs")
    for name in kept:
        assert getattr(after, name) == getattr(before, name)


def test_old_location_stays_taken(stores: Stores, data: Path) -> None:
    """Else the data could be bound away, put back, and opened for a second budget."""
    ledger = _moving(stores, data)
    ledger.bind("bound", "moved.csv")
    (data.parent / "moved.csv").rename(data / "rows.csv")
    for where in ("data/rows.csv", "moved.csv", "data"):
        for attempt in (
            lambda where=where: ledger.open_account(
                "second",
                cap=Fraction(2),
                unit=None,
                neighbours=Neighbours.ADD_REMOVE,
                location=where,
            ),
            lambda where=where: ledger.bind(DATASET, where),
            lambda where=where: ledger.refuse_foreign_data(DATASET, where),
        ):
            with pytest.raises(LedgerFault) as refusal:
                attempt()
            assert refusal.value.diagnostics[0].code == "DPQL716"
    with pytest.raises(LedgerFault):
        ledger.refuse_foreign_data("bound", "data/rows.csv")
    ledger.bind("bound", "data/rows.csv")
    ledger.refuse_foreign_data("bound", "data/rows.csv")


def test_only_open_datasets_are_bound_and_only_to_locations(stores: Stores) -> None:
    """Neither an unknown name nor an empty location makes an entry."""
    _, ledger = stores.make()
    for name, where, code in (("none", "a.csv", "701"), (DATASET, "", "710")):
        with pytest.raises(LedgerFault) as refusal:
            ledger.bind(name, where)
        assert refusal.value.diagnostics[0].code == f"DPQL{code}"
    assert ledger.account(DATASET).seq == 1


def test_tables_of_a_file_are_known_by_file_and_name(data: Path) -> None:
    """Spellings meet, two tables do not, and the whole file has them all."""
    os.link(data / "rows.csv", data.parent / "hard.csv")
    plain = _identity("duckdb:data/rows.csv#t")
    assert f"duckdb:{data}/rows.csv#main.t" == plain.text
    assert plain == _identity(plain.text)
    for spelling in ("data/rows.csv#main.T", "data/../data/rows.csv#t", "hard.csv#t"):
        other = _identity(f"duckdb:{spelling}")
        assert plain.overlaps(other)
        assert plain.is_within(other)
    for whole in ("data/rows.csv", "data", "duckdb:data/rows.csv"):
        assert plain.overlaps(_identity(whole))
        assert plain.is_within(_identity(whole))
        assert _identity(whole).overlaps(plain)
        assert not _identity(whole).is_within(plain)
    for other in ("data/rows.csv#u", "data/other.csv#t", "data/rows.csv#s.t"):
        assert not plain.overlaps(_identity(f"duckdb:{other}"))
        assert not plain.is_within(_identity(f"duckdb:{other}"))


def test_tables_of_a_server_are_what_it_says() -> None:
    """The name that people read is no part of it."""
    known = _identity("postgresql:7/db/16 public.t")
    renamed = _identity("postgresql:7/db/16 public.u")
    assert known.overlaps(renamed)
    assert known.is_within(renamed)
    for text in ("postgresql:7/db/161 public.t", "postgresql:8/db/16 x", "spark:a.b.c"):
        assert not known.overlaps(_identity(text))
        assert not known.is_within(_identity(text))
