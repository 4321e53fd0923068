"""What a statistic is: all that language, planner and reviews know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpql.model import limits
from dpql.model.shape import Choice, Field, ListOf, Shape, Text
from dpql.model.spec import NumberType
from dpql.statistics.option import Option
from dpql.statistics.setting import Description, Setting

NUMBERS = tuple(NumberType)
"""The types of the columns that hold numbers."""

COUNTED = (*NUMBERS, "boolean")
"""The same, and truth, which counts as 1 and 0."""

PRIVATE = "private category"
"""The type of the columns whose keys are found in the data."""

COLUMN = Text.of(
    "a column name",
    limits.COLUMN,
    rule="no backquotes, no tabs, no space at either end",
)


CONDITION = Text.of("a condition", limits.CONDITION, rule="on one line")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A statistic of the table.

    Attributes:
        name: its word in a spec, in plans and in reports.
        summary: what the manual and the JSON Schema say of it.
        example: its columns in the JSON Schema's example; `rows` when it takes none.
        phrase: what it computes, with `{0}` and `{1}` where its columns stand,
            `{at}` for its quantiles, and `{condition}` for what it asks.
        public_phrase: what it computes where the number of rows is public, if that is
            something else. Its readout is then `Affine`, and only then.
        key: the key of a spec that asks for it, if that is not its name.
        subject: what a spec says where it takes no columns.
        columns: the number of columns it takes.
        column_types: the types that these columns may have.
        power: the most grid numbers multiplied in one moment; 0 when none is summed.
        splits: the keys or bins of its column are cells, whose rows are counted.
        takes_condition: it takes a condition of rows instead of columns.
        once: of a unit's rows in a cell one is enough, and only one is kept.
        counts_values: its engine counts the different values of its column.
        finds: it finds the keys of private columns, and releases no number.
        chooses: its values are chosen by their ranks; no noise is added to a number.
        options: keys that stand beside those that every statistic may have.
        fewest_rows: the least number of rows it exists for.
        synonyms: words of other languages for it; a spec that has one gets a hint.
        describe: what the engine must count, and what becomes of it.
        describe_joint: the same by parts of one, where the number of rows is private
            and the noise lets parts share one sensitivity; None if there are none.
        joint_only: there is no other form, even where the number of rows is public.
    """

    name: str
    summary: str
    example: str | tuple[str, ...]
    phrase: str
    public_phrase: str = ""
    key: str = ""
    subject: str = "rows"
    columns: int = 1
    column_types: tuple[str, ...] = NUMBERS
    power: int = 1
    splits: bool = False
    takes_condition: bool = False
    once: bool = False
    counts_values: bool = False
    finds: bool = False
    chooses: bool = False
    options: tuple[Option, ...] = ()
    fewest_rows: int = 1
    synonyms: tuple[str, ...] = ()
    describe: Callable[[Setting], Description]
    describe_joint: Callable[[Setting], Description] | None = None
    joint_only: bool = False

    @property
    def keyword(self) -> str:
        """The key of a spec that asks for the statistic."""
        return self.key or self.name

    @property
    def field(self) -> Field:
        """The key of a spec that asks for the statistic."""
        shape: Shape = COLUMN
        if self.takes_condition:
            shape = CONDITION
        elif self.columns == 0:
            shape = Choice(
                what="what is counted",
                words=(self.subject,),
                otherwise="; different values are counted by `distinct: COLUMN`",
            )
        elif self.columns > 1:
            shape = ListOf(item=COLUMN, shortest=self.columns, longest=self.columns)
        example = self.example if isinstance(self.example, str) else list(self.example)
        return Field(
            name=self.keyword, shape=shape, summary=self.summary, examples=(example,)
        )
