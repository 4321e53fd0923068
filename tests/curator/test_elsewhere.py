"""Data are the same data wherever they lie, and whoever reads them, hostile or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import test_hostile as hostile
from cloud_server import Cloud, cloud, without_account
from curator_kinds import WRITE
from test_columns import refused, sums
from test_file_places import FLAT

from dpql.curator import run

FILES = ("csv", "tsv", "parquet", "ipc", "ndjson")
CASES = [case for case in hostile.CASES if case[0] in FILES]


@pytest.fixture(autouse=True)
def _without_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_account(monkeypatch, tmp_path)


@pytest.fixture(scope="module", params=["s3", "gs"])
def there(request: pytest.FixtureRequest) -> Iterator[Cloud]:
    """Run a cloud."""
    with cloud(request.param) as run:
        yield run


@pytest.fixture(scope="module")
def s3() -> Iterator[Cloud]:
    """Run a cloud that speaks S3."""
    with cloud("s3") as run:
        yield run


def _put(there: Cloud, file: Path, folder: str = "") -> str:
    there.put(f"{folder}{file.name}", file.read_bytes())
    return there.url(f"{folder}{file.name}")


@pytest.mark.parametrize("suffix", WRITE)
def test_every_format_is_read_from_a_cloud(
    there: Cloud, suffix: str, tmp_path: Path
) -> None:
    """An object, a folder and a pattern are the rows of the files they name."""
    for name in ("a", "b"):
        WRITE[suffix](FLAT, tmp_path / f"{name}.{suffix}")
        _put(there, tmp_path / f"{name}.{suffix}", f"{suffix}/")
    once, twice = (3, [1, 0, 1]), (6, [2, 0, 2])
    assert once == sums(there.url(f"{suffix}/a.{suffix}"))
    assert twice == sums(there.url(f"{suffix}/"))
    assert twice == sums(there.url(f"{suffix}/*.{suffix}"))


def test_folders_of_a_cloud_hold_values(there: Cloud, tmp_path: Path) -> None:
    """The names of folders are columns, as they are on this machine."""
    pl.DataFrame({"x": [1, 2]}).write_parquet(tmp_path / "rows.parquet")
    for part in ("k=north", "k=1", "k=__HIVE_DEFAULT_PARTITION__", "k=else"):
        _put(there, tmp_path / "rows.parquet", f"hive/{part}/")
    assert (12, [2, 0, 2]) == sums(there.url("hive/"))
    assert (3, [2, 0, 0]) == sums(there.url("hive/k=nor*/*.parquet"))


def test_types_may_differ_between_objects(there: Cloud, tmp_path: Path) -> None:
    """Objects of several types are one table; objects of several formats are none."""
    tables = [
        pl.DataFrame({"x": ["1"], "k": ["north"]}),
        pl.DataFrame({"x": [2], "k": [1]}),
        pl.DataFrame({"x": [3.0], "k": pl.Series(["south"], dtype=pl.Categorical)}),
    ]
    for place, table in enumerate(tables):
        table.write_parquet(tmp_path / f"{place}.parquet")
        _put(there, tmp_path / f"{place}.parquet", "types/")
    assert (6, [1, 1, 1]) == sums(there.url("types/"))
    tables[0].write_csv(tmp_path / "3.csv")
    _put(there, tmp_path / "3.csv", "types/")
    assert "DPQL502" in refused(there.url("types/"))


@pytest.mark.parametrize("suffix", WRITE)
def test_an_object_that_is_not_what_it_is_called_is_refused(
    there: Cloud, suffix: str, tmp_path: Path
) -> None:
    """Columns that are missing and files that are none are faults by code."""
    path = tmp_path / f"wrong.{suffix}"
    WRITE[suffix](FLAT.rename({"x": "y"}), path)
    if suffix not in ("ndjson", "jsonl"):  # lines have no header
        assert "DPQL503" in refused(_put(there, path))
    path.write_bytes(b"\x1f\x8b" + b"secret" * 9)
    columnar = suffix in ("parquet", "pq", "arrow", "csv", "tsv")
    if columnar:
        found = refused(_put(there, path))
        assert "DPQL502" in found
        assert "secret" not in found
    assert "DPQL501" in refused(there.url(f"absent.{suffix}"))


@pytest.mark.parametrize(("form", "number", "kind"), CASES)
def test_hostile_records_mean_the_same_in_a_cloud(
    s3: Cloud, form: str, number: int, kind: str, tmp_path: Path
) -> None:
    """A record that is hostile here is hostile there, and counts the same."""
    here = Path(hostile._hostile(form, number, kind, tmp_path))
    assert hostile._sums(here) == hostile._sums(_put(s3, here))


def test_a_release_is_made_from_a_cloud(there: Cloud, tmp_path: Path) -> None:
    """The whole run works, and says nothing of where the data are."""
    here = hostile._frame("parquet", tmp_path, hostile.BASE, "record")
    made = run(hostile.hostile_plan(), {"rows": _put(there, Path(here))})
    local = run(hostile.hostile_plan(), {"rows": here})
    assert hostile._public(made) == hostile._public(local)
    assert "127.0.0.1" not in repr(made) + made.to_csv()
