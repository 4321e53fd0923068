"""What an executor does to a partition, without a cluster."""

from __future__ import annotations

import pyarrow as pa
import pytest
from curator_plans import unit_plan
from exact_sums import SALT, exact_sums, same
from typed_tables import columns_of, table

from dpql.curator.compilation import compile_program
from dpql.curator.engines.spark_partitions import added, worked
from dpql.errors import RunFault


@pytest.mark.heavy
def test_partitions_of_whole_units_add_up() -> None:
    """However rows are cut into partitions, as long as units are whole."""
    made = unit_plan(1, 1)
    frame = columns_of(made, table("doubles"))
    program = compile_program(made)
    numbers = frame["person"].hash(7) % 3
    found = []
    for number in (0, 1, 2):
        some = frame.filter(numbers.fill_null(0) == number).to_arrow()
        found += worked(program, SALT, iter(some.to_batches(max_chunksize=7)))
    total, rows = added(program, pa.Table.from_batches(found))
    same(made, exact_sums(made, frame), total.sums(None))
    assert frame.height == rows


def test_a_partition_without_rows_yields_nothing() -> None:
    """Spark has such."""
    assert [] == list(worked(compile_program(unit_plan()), SALT, iter(())))


def test_only_columns_that_are_read_need_be_there() -> None:
    """Others are not brought together."""
    made = unit_plan()
    program = compile_program(made)
    names = [column.name for column in program.columns]
    (batch,) = columns_of(made, table("doubles")).select(names).to_arrow().to_batches()
    assert list(worked(program, SALT, iter([batch])))


def test_what_fails_says_nothing_of_the_data() -> None:
    """Executors write errors into logs of their own."""
    batch = pa.RecordBatch.from_pydict({"person": ["Zebedee-canary"]})
    with pytest.raises(RunFault) as caught:
        list(worked(compile_program(unit_plan()), SALT, iter([batch])))
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None
