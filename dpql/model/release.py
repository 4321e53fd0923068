"""What leaves the curator: noisy numbers with their plan, and nothing else.

A `Release` is made of real coins and may be signed. A `Rehearsal` has the same shape
and another type: it was made of a seed or of invented rows, and nothing that takes a
`Release` takes it. Neither has a field, a repr or a log that holds a number without
noise, a row, a path or a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

from dpql.diagnostics import shown
from dpql.model.columns import OTHERS
from dpql.model.figures import plural
from dpql.model.notation import bin_keys, number_text, plain
from dpql.model.plan import VERSION, Plan, Step
from dpql.model.release_tables import TIDY_FROM, all_csv, headings_of, statistic_csv
from dpql.model.release_text import (
    as_csv,
    as_html,
    as_text,
    result_html,
    result_text,
    value_repr,
)
from dpql.model.spec import Data


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Value:
    """One released number.

    ``cell`` holds one text per heading of its result: the key of every `by` column in
    order, then the bin of a histogram, or the quantile; it is empty for a single
    number. ``noisy`` are the outcomes of the step's parts, in order and in units of
    their measures, or the index of a quantile's candidate; they are all that was drawn.
    ``value`` and the interval ``lower``..``upper``, which holds the number before noise
    with probability 1 - alpha, follow from them by the plan. Of a quantile the promise
    is about ranks: ``lower``..``upper`` is what its candidate stands for.
    """

    cell: tuple[str, ...]
    noisy: tuple[Fraction, ...]
    value: Fraction
    lower: Fraction
    upper: Fraction

    def __repr__(self) -> str:
        return value_repr(self)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """One statistic of a release: its step of the plan, and a value per cell.

    The cells are in the order of the plan, every declared one present: the product of
    the `by` columns' keys, the last column fastest, the bins of a histogram or the
    quantiles of a group, which rise, faster still. Of private columns they are those
    that the step found, or another one before it. ``values`` is a tuple, or a sequence
    equal to that tuple.
    """

    step: Step
    values: Sequence[Value]

    def __repr__(self) -> str:
        return f"<{shown(self.name)}, {plural(len(self.values), 'value')}>"

    def __str__(self) -> str:
        return result_text(self)

    def _repr_html_(self) -> str:
        return result_html(self)

    @property
    def name(self) -> str:
        """The statistic's name."""
        return self.step.name

    @property
    def headings(self) -> tuple[str, ...]:
        """The column that each text of a cell belongs to."""
        return headings(self.step)

    @property
    def unit(self) -> str | None:
        """The unit of the values."""
        return self.step.unit

    @property
    def alpha(self) -> Fraction:
        """The chance that a value is farther from the one before noise than stated."""
        return self.step.alpha

    @property
    def accuracy(self) -> Fraction | None:
        """How far noise takes a value at most, or None: see the interval."""
        return self.step.accuracy

    def to_csv(self) -> str:
        """Return every value as one line of comma-separated text."""
        return statistic_csv(self)

    def to_polars(self) -> Any:
        """Return a polars frame: a column per heading, then the numbers."""
        from dpql.reports.data_frames import result_frame

        return result_frame(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class Outcome:
    """The plan, and a result for each of its steps in order.

    ``coins`` names the source of randomness, ``engine`` what added up the rows.
    """

    kind: ClassVar[str] = ""

    plan: Plan
    results: tuple[Result, ...]
    coins: str
    engine: str

    @cached_property
    def _by_name(self) -> dict[str, Result]:
        return {result.name: result for result in self.results}

    def __getitem__(self, name: str) -> Result:
        try:
            return self._by_name[name]
        except KeyError:
            names = ", ".join(map(repr, self._by_name))
            raise KeyError(f"{name!r}; this {self.kind} has {names}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._by_name)

    def __repr__(self) -> str:
        name, plan = self.plan.spec.release, self.plan.digest[:8]
        count = plural(len(self.results), "statistic")
        return f"<{self.kind} of {name}, plan {plan}, {count}>"

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def to_csv(self) -> str:
        """Return every value as one line of comma-separated text."""
        return as_csv(self) if self.plan.version < TIDY_FROM else all_csv(self)

    def write_csv(self, path: Path | str) -> None:
        """Write `to_csv` to a new file; an existing one is refused."""
        with Path(path).open("x", encoding="utf-8", newline="") as file:
            file.write(self.to_csv())

    def to_polars(self) -> Any:
        """Return a polars frame with one row per value of every statistic."""
        from dpql.reports.data_frames import outcome_frame

        return outcome_frame(self)

    def to_parquet(self) -> bytes:
        """Return the frame of `to_polars` as a parquet file."""
        from dpql.reports.data_frames import parquet_bytes

        return parquet_bytes(self)

    def write_parquet(self, path: Path | str) -> None:
        """Write `to_parquet` to a new file; an existing one is refused."""
        with Path(path).open("xb") as file:
            file.write(self.to_parquet())


@dataclass(frozen=True, kw_only=True, repr=False)
class Release(Outcome):
    """Noisy values drawn from the operating system's coins; it may be signed."""

    kind: ClassVar[str] = "release"


@dataclass(frozen=True, kw_only=True, repr=False)
class Rehearsal(Outcome):
    """Values of the same shape that protect nobody: seeded coins or invented rows."""

    kind: ClassVar[str] = "rehearsal"


def headings(step: Step) -> tuple[str, ...]:
    """Return the columns whose keys or bins name the cells, then `at` of quantiles."""
    return headings_of(step)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownKeys:
    """The keys that a search has shown, in their order: a word of each column.

    With ``others`` statistics by these columns have a last key of everything else.
    """

    columns: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    others: bool = False

    @classmethod
    def of(cls, result: Result, data: Data) -> ShownKeys:
        """Return the keys that the result of a search shows."""
        columns = result.step.by
        return cls(
            columns=columns,
            keys=tuple(value.cell for value in result.values),
            others=any(map(data.has_others, columns)),
        )

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The keys by which statistics are grouped."""
        others = (OTHERS,) * len(self.columns)
        return (*self.keys, others) if self.others else self.keys


def cells(
    step: Step, data: Data, *, version: int = VERSION, shown: ShownKeys | None = None
) -> Iterator[tuple[str, ...]]:
    """Yield the texts of every cell of a step, in the order of the plan.

    ``version`` is the plan's format; the first one rounded the edges of bins. ``shown``
    are the keys that were found for it, or by it; they stand where the first of their
    columns does.
    """
    if shown is None:
        yield from product(*cell_axes(step, data, version=version))
        return
    if step.search is not None:
        yield from shown.keys
        return
    first = next(n for n, name in enumerate(step.by) if name in shown.columns)
    words = [shown.columns.index(name) for name in step.by if name in shown.columns]
    found = [n for n, name in enumerate(step.by) if name in shown.columns]
    axes = cell_axes(step, data, version=version)
    for before in product(*axes[:first]):
        for key in shown.groups:
            for after in product(*axes[first:]):
                cell = [*before, *after]
                for index, word in zip(found, words, strict=True):
                    cell.insert(index, key[word])
                yield tuple(cell)


def cell_axes(step: Step, data: Data, *, version: int = VERSION) -> list[Sequence[str]]:
    """Return the texts whose product `cells` yields, but for keys to be found."""
    private = data.private(step.by)
    axes: list[Sequence[str]] = [
        data.category(name).keys for name in step.by if name not in private
    ]
    for column in step.bin_columns:
        write = number_text if version > 1 else plain
        axes.append(bin_keys(step.edges, write) or data.category(column).keys)
    if step.at:
        axes.append(tuple(map(str, step.at)))
    return axes
