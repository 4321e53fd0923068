"""What will be done, decided before any data: the frozen value a reviewer approves.

A `Plan` holds the spec it came from, and for every statistic the integers an engine
must return, how far a neighbour can move them, the noise with every parameter, and how
the noisy integers become the released number. It holds nothing of data, clock or
machine. Its canonical bytes are those of ``jq -S .`` on the same JSON: members sorted,
two spaces, one newline at the end. Every number is exact text, so

    plan.digest == sha256 of the file

Compatibility law: a member of the JSON never changes its meaning; a plan of a later
format says so in ``version`` and is refused by an earlier dpql. A plan of an earlier
format keeps its bytes and its digest, so that what was signed can be verified; it is
not run, approved or signed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from dpql.diagnostics import shown
from dpql.errors import PlanFault
from dpql.model import format1, format2, format3, pure
from dpql.model.codec import canonical, encode
from dpql.model.lean import Lean
from dpql.model.parts import Measure, Moment, Noise, Part, Pick, Search, Term
from dpql.model.readouts import (
    Affine,
    CentredMean,
    CentredVariance,
    Chosen,
    PartsOfOne,
    Readout,
    Share,
)
from dpql.model.spec import Condition, Neighbours, Spec, Spend

__all__ = [
    "ADDED_UP",
    "FORMATS",
    "LIMIT",
    "VERSION",
    "Affine",
    "Bound",
    "CentredMean",
    "CentredVariance",
    "Chosen",
    "Grid",
    "Measure",
    "Moment",
    "Noise",
    "Part",
    "PartsOfOne",
    "Pick",
    "Plan",
    "Readout",
    "Search",
    "Share",
    "Step",
    "Term",
    "spec_digest",
]

VERSION = 4
"""The format of the plans that this dpql makes and runs."""

FORMATS = (1, 2, 3, VERSION)
"""The formats that it reads and verifies."""

ADDED_UP = "the losses of the steps add up"
"""How a pure release composes; then no delta is used."""

LIMIT = 64 << 20
"""Bytes of the largest plan that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """At most ``rows`` rows of a unit in each of at most ``cells`` cells are kept.

    Of these at most ``total`` are, if it is given: rows <= total < rows * cells. The
    others are dropped, so how many rows are left is private.
    """

    rows: int
    cells: int
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Whole numbers 0..steps that stand for the values of a column.

    ``u`` stands for ``lower + u * (upper - lower) / steps``. ``error`` bounds the
    distance, in steps, between u and the clamped value; 0 when the grid is lossless.
    """

    column: str
    lower: Fraction
    upper: Fraction
    steps: int
    error: Fraction

    @property
    def width(self) -> Fraction:
        """The public interval's width."""
        return self.upper - self.lower

    @property
    def step(self) -> Fraction:
        """The value of one step."""
        return self.width / self.steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Lean):
    """One statistic of the release, for all its cells.

    ``lower`` and ``upper`` are the public range of the value; what is released is
    clamped into it. ``sensitivity`` is that of the value, when the value is one noisy
    number. ``accuracy`` a: the released value is within a of the true one with
    probability 1 - alpha, in each cell; ``accuracy_all``: in all cells at once. Both
    are None where they depend on a private count; the interval is then released with
    the value. ``quantisation`` is the part of the error that the grid makes.

    Where the parts are ``joint``, the sensitivity of each is that of all of them
    together, over all cells: each spends the epsilon of the step, and so do all.

    ``epsilon`` and ``loss`` are None where the noise is not pure. In a plan with a
    delta ``rho`` is the cost of the step under zero-concentrated privacy, and
    ``delta`` the probability that it promises nothing; both say nothing in a pure plan.

    Quantiles have ``picks`` in place of parts, one for each of ``at`` in order; a
    median has one pick and no ``at``. Their accuracies are distances of ranks, in rows,
    of all picks of a cell, and ``quantisation`` is how far a value is from its pick.
    ``total_of`` names the step that is added up here, ``total`` in that step this one.

    A step with a ``search`` finds the keys of private columns, and has no parts: its
    cells are those that it shows. One that is grouped by such columns says in
    ``found_by`` which step finds their keys; its ``cells`` are those of one of them,
    and there are no accuracies for all cells at once.
    """

    LEFT_OUT: ClassVar[Mapping[str, Any]] = {"search": None, "found_by": None}

    name: str
    statistic: str
    columns: tuple[str, ...]
    edges: tuple[Fraction, ...]
    at: tuple[Fraction, ...]
    condition: Condition | None
    where: Condition | None
    by: tuple[str, ...]
    at_least: int | None
    total_of: str | None
    total: str | None
    relation: Neighbours
    cells: int
    bound: Bound | None
    grids: tuple[Grid, ...]
    moments: tuple[Moment, ...]
    joint: bool
    parts: tuple[Part, ...]
    picks: tuple[Pick, ...]
    readout: Readout
    quantisation: Fraction
    sensitivity: Fraction | None
    lower: Fraction
    upper: Fraction
    l0: int
    unit: str | None
    mechanism: str
    spend: Spend
    epsilon: Fraction | None
    loss: Fraction | None
    alpha: Fraction
    gamma: Fraction
    accuracy: Fraction | None
    accuracy_all: Fraction | None
    rho: Fraction | None = None
    delta: Fraction = Fraction(0)
    search: Search | None = None
    found_by: str | None = None

    @property
    def bin_columns(self) -> tuple[str, ...]:
        """The columns whose keys or bins are cells: their rows are only counted."""
        counts = all(moment.name == "n" for moment in self.moments)
        return self.columns if counts and not self.grids else ()

    @property
    def amount(self) -> Fraction:
        """What the noise spends: its epsilon, or its rho where it is not pure."""
        amount = self.rho if self.epsilon is None else self.epsilon
        assert amount is not None, "noise spends one or the other"
        return amount

    @property
    def accuracy_unit(self) -> str | None:
        """The unit of the accuracies: that of the value, or rows of a rank."""
        return "rows" if self.picks else self.unit

    @property
    def per_key(self) -> bool:
        """Whether its cells are of keys that are found, so that nobody knows how many.

        Then `cells` and `values` are those of one key.
        """
        return self.search is not None or self.found_by is not None

    @property
    def names_only(self) -> bool:
        """Whether keys are shown without any number."""
        return self.search is not None and self.accuracy is None

    @property
    def values(self) -> int:
        """How many values are released: one for each cell and quantile."""
        return self.cells * max(1, len(self.picks))


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan:
    """A whole release, decided: ``loss`` <= ``spent`` <= ``epsilon``.

    ``composition`` says how the costs of the steps become the loss. With a ``delta``
    the release is (``spent``, ``delta``)-DP, and ``rho`` is what the steps cost
    together under zero-concentrated privacy; without one it is pure, and ``rho`` None.
    Make one with `dpql.planner.plan` or `dpql.planner.read`; both have audited it.
    """

    version: int
    spec: Spec
    spec_digest: str
    composition: str
    epsilon: Fraction
    delta: Fraction
    spent: Fraction
    loss: Fraction
    steps: tuple[Step, ...]
    rho: Fraction | None = None
    audited: bool = field(default=False, init=False, compare=False, repr=False)
    """Whether this process has audited this very value; a changed copy starts anew."""

    def __repr__(self) -> str:
        return f"<plan {self.digest[:8]} of {self.spec.release}>"

    @property
    def delta_spent(self) -> Fraction:
        """The delta of the release: 0 where its losses add up, and all are pure."""
        if self.composition != ADDED_UP:
            return self.delta
        return sum((step.delta for step in self.steps), Fraction(0))

    @property
    def in_rho(self) -> bool:
        """Whether the steps share a rho; else they share an epsilon."""
        return self.rho is not None and self.composition != ADDED_UP

    def cost(self, step: Step) -> Fraction:
        """Return what a step takes of what the steps share."""
        amount = step.rho if self.in_rho else step.epsilon
        assert amount is not None, "the audit has seen it"
        return amount

    @property
    def shared(self) -> Fraction:
        """The whole of what the steps share: the budget, or the rho that is spent."""
        if not self.in_rho:
            return self.epsilon
        assert self.rho is not None, "the steps share it"
        return self.rho

    def note_audit(self) -> None:
        """Note that the planner has audited this value."""
        object.__setattr__(self, "audited", True)

    def __getstate__(self) -> dict[str, Any]:
        # Another process may have other rules, so it audits again.
        return {n: member for n, member in vars(self).items() if n != "audited"}

    def to_json(self) -> bytes:
        """Return the canonical bytes, in the plan's own format."""
        return canonical(encode(Plan, self))

    @classmethod
    def as_now(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Return a document of any format with the members of today's."""
        version = document.get("version")
        if document.get("delta") == "0":
            document = pure.extended(document)
        if version == "1":
            document = format1.lacking(document)
        if version in ("1", "2"):
            document = format2.extended(document)
        return format3.extended(document) if version in ("1", "2", "3") else document

    def as_then(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document with the members of the plan's own format."""
        if self.delta == 0:
            document = pure.reduced(document)
        if self.version < VERSION:
            document = format3.reduced(document)
        if self.version <= format2.LAST:
            document = format2.reduced(document)
        return format1.completed(self, document) if self.version == 1 else document

    def require_current(self) -> None:
        """Refuse a plan of an older format, which may be verified and nothing else.

        Raises:
            PlanFault: this dpql would make another plan of its spec (DPQL404).
        """
        if self.version != VERSION:
            raise PlanFault.of(
                "DPQL404",
                f"the plan was made by an older planner (format {self.version})",
                hint="plan the spec again; releases of this plan stay valid",
            )

    @cached_property
    def digest(self) -> str:
        """sha256 of the canonical bytes, in hexadecimal."""
        return hashlib.sha256(self.to_json()).hexdigest()

    def step(self, name: str) -> Step:
        """Return the step of that name; a PlanFault if there is none (DPQL406)."""
        for step in self.steps:
            if step.name == name:
                return step
        names = ", ".join(shown(step.name) for step in self.steps[:6])
        words = f"the plan has no statistic `{shown(str(name))}`"
        raise PlanFault.of("DPQL406", words, hint=f"the first are {names}")

    def __str__(self) -> str:
        from dpql.review.explain import explain
        from dpql.review.render import as_text

        return as_text(explain(self)).rstrip("\n")

    def _repr_html_(self) -> str:
        from dpql.review.explain import explain
        from dpql.review.render import as_html

        return as_html(explain(self))


def spec_digest(spec: Spec, version: int = VERSION) -> str:
    """Return the sha256 of what the spec means, as plans of that format write it."""
    document = encode(Spec, spec)
    if version < VERSION:
        document = format3.reduced({"spec": document})["spec"]
    if version <= format2.LAST:
        document = format2.reduced({"spec": document})["spec"]
    return hashlib.sha256(canonical(document)).hexdigest()
