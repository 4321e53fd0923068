"""Keys that no search of the plan can have shown are refused, though they are signed.

Whoever signs a release may have drawn the coins as often as they liked: that nobody can
see. But what is signed has to be something that one run of the plan can give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from private_specs import FREQUENT, RARE, frame, private_plan
from reports.sample_releases import STEWARD, check, payload_of

from dpql.curator.run import run
from dpql.errors import VerifyFault
from dpql.mechanisms import SEARCHES
from dpql.model.plan import Plan, Search, Step
from dpql.model.release import Release, Result, Value
from dpql.reports.envelope import seal
from dpql.reports.predicate import StatisticRecord
from dpql.reports.predicate_builder import predicate_of
from dpql.reports.shown_keys import KeyOutcomes, least_shown, require_possible
from dpql.reports.verify import Verified
from dpql.statistics.reading import reader_of

MECHANISMS = {"geometric": "truncated_geometric", "gaussian": "gaussian_threshold"}


@cache
def made(
    *,
    listed: bool = False,
    others: bool = False,
    shown_from: int = 5,
    mechanism: str = "geometric",
    planes: int = 300,
) -> Release:
    """Return a release of a plan with private keys."""
    plan = private_plan(
        listed=listed, others=others, shown_from=shown_from, mechanism=mechanism
    )
    found = run(plan, {"rows": frame(planes)})
    assert isinstance(found, Release)
    return found


def verified(release: Release) -> Verified:
    """Sign a release, whatever it says, and verify it."""
    return check(seal(payload_of(release), [STEWARD]))


def code(release: Release) -> str:
    """Return the code with which a signed release is refused."""
    with pytest.raises(VerifyFault) as caught:
        verified(release)
    (found,) = caught.value.diagnostics
    assert found.hint
    return found.code


def forged(
    release: Release, **edits: Callable[[Sequence[Value]], Sequence[Value]]
) -> Release:
    """Return a release whose statistics have other values."""
    return replace(
        release,
        results=tuple(
            Result(
                step=one.step,
                values=tuple(
                    edits[one.name](tuple(one.values))
                    if one.name in edits
                    else one.values
                ),
            )
            for one in release.results
        ),
    )


def of(step: Step, cell: tuple[str, ...], noisy: Fraction | int) -> Value:
    """Return the value that follows from a noisy number."""
    reading = reader_of(step)((Fraction(noisy),))
    return Value(
        cell=cell,
        noisy=(Fraction(noisy),),
        value=reading.value,
        lower=reading.lower,
        upper=reading.upper,
    )


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_a_run_gives_is_verified(
    mechanism: str, *, listed: bool, others: bool
) -> None:
    """Keys with and without counts, with and without others, of either noise."""
    release = made(listed=listed, others=others, mechanism=mechanism)
    found = verified(release)
    assert release == found.release
    first = release["found" if listed else "flights"]
    assert [(key,) for key in FREQUENT] == [value.cell for value in first.values]
    assert RARE not in str(found.predicate)
    delays = [value.cell for value in release["delays"].values]
    keys = (*FREQUENT, *(("others",) if others else ()))
    assert [(carrier, key) for carrier in ("UA", "AA") for key in keys] == delays
    counted = next(x for x in release.plan.steps if x.name == "routes")
    assert MECHANISMS[mechanism] == counted.mechanism


def test_no_key_at_all_is_verified() -> None:
    """Without any key, statistics by such keys have no values, or others alone."""
    release = made(planes=1, others=True, shown_from=50)
    assert verified(release).release == release
    assert [("others",)] != [value.cell for value in release["flights"].values]
    assert () == tuple(release["flights"].values) == tuple(release["routes"].values)
    assert [("UA", "others"), ("AA", "others")] == [
        value.cell for value in release["delays"].values
    ]


def test_an_added_key_is_refused() -> None:
    """A key that only the search has, or only another statistic."""
    release = made()
    step = release.plan.step("flights")
    more = of(step, ("ZRH",), 400)
    assert "DPQL608" == code(forged(release, flights=lambda x: (*x, more)))
    sums = release.plan.step("delays")
    spacing = release["delays"].values[0].noisy[0]
    extra = of(sums, ("AA", "ZRH"), spacing)
    assert "DPQL608" == code(forged(release, delays=lambda x: (*x, extra)))


def test_missing_cells_are_refused() -> None:
    """A key without its cells, cells without their key, and others left out."""
    release = made(others=True)
    assert "DPQL608" == code(forged(release, delays=lambda x: x[:-1]))
    assert "DPQL608" == code(forged(release, flights=lambda x: x[1:]))
    without = forged(release, delays=lambda x: [v for v in x if v.cell[1] != "others"])
    assert "DPQL608" == code(without)


def test_others_that_nobody_asked_for_are_refused() -> None:
    """A last cell of all else, where the spec has none."""
    release = made()
    step, noisy = release.plan.step("delays"), release["delays"].values[0].noisy[0]

    def more(values: Sequence[Value]) -> Sequence[Value]:
        half = len(values) // 2
        ua, aa = (of(step, (x, "others"), noisy) for x in ("UA", "AA"))
        return (*values[:half], ua, *values[half:], aa)

    assert "DPQL608" == code(forged(release, delays=more))


def test_another_order_is_refused() -> None:
    """The order of the rows, or of the counts, would tell of hidden keys."""
    release = made()
    assert "DPQL609" == code(
        forged(
            release,
            flights=lambda x: x[::-1],
            delays=lambda x: (*x[:3][::-1], *x[3:][::-1]),
        )
    )
    assert "DPQL609" == code(forged(release, flights=lambda x: (x[0], *x)))
    assert "DPQL608" == code(forged(release, delays=lambda x: x[::-1]))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_count_below_the_threshold_is_refused(mechanism: str) -> None:
    """The least number that is shown is, and one less is not, nor is half a unit."""
    release = made(mechanism=mechanism)
    step = release.plan.step("flights")
    assert step.search is not None
    least = least_shown(step.search)

    def counted(count: Fraction | int) -> Release:
        return forged(release, flights=lambda x: (of(step, x[0].cell, count), *x[1:]))

    assert verified(counted(least)).release == counted(least)
    assert "DPQL609" == code(counted(least - 1))
    assert "DPQL609" == code(counted(least + Fraction(1, 2)))
    assert least > step.search.shown_from


def test_a_count_beyond_all_noise_is_refused() -> None:
    """Noise that ends somewhere ends so far above the most units there may be."""
    step = private_plan(mechanism="geometric", shown_from=7).step("flights")
    assert step.search is not None
    reach = int(dict(step.search.noise.parameters)["reach"])
    outcomes, most = KeyOutcomes(step), int(step.upper) + reach + 6
    assert outcomes.holds(Fraction(most))
    assert not outcomes.holds(Fraction(most + 1))


def test_keys_without_counts_have_none() -> None:
    """What is noted of such a key is that it is shown, and nothing else."""
    release = made(listed=True)
    step = release.plan.step("found")
    wrong = forged(release, found=lambda x: (of(step, x[0].cell, 2), *x[1:]))
    assert "DPQL609" == code(wrong)


@pytest.mark.parametrize(
    "word", ["", "A\n", "A\u202e", "\u2028", "A" * 101, "\ue000", "others"]
)
def test_words_that_nobody_can_find_are_refused(word: str) -> None:
    """They are printed, and of 100 characters at most; others are no key."""
    release = made(others=True)
    step, data = release.plan.step("flights"), release.plan.spec.data
    value = of(step, (word,), 400)
    record = _record(release, (value,))
    with pytest.raises(VerifyFault, match="DPQL609"):
        require_possible(step, record, data)
    good = _record(release, (of(step, ("A" * 100,), 400),))
    require_possible(step, good, data)


def test_a_key_has_a_word_of_each_column() -> None:
    """No more, and no fewer."""
    release = made()
    step, data = release.plan.step("routes"), release.plan.spec.data
    for cell in (("EWR",), ("EWR", "JFK", "JFK")):
        record = _record(release, (of(step, cell, 400),), name="routes")
        with pytest.raises(VerifyFault, match="DPQL609"):
            require_possible(step, record, data)


def test_more_keys_than_the_plan_allows_are_refused() -> None:
    """Their number is part of the plan."""
    release = made()
    step, data = release.plan.step("flights"), release.plan.spec.data
    record = _record(release, tuple(release["flights"].values))
    require_possible(_limited(step, 3), record, data)
    with pytest.raises(VerifyFault, match="DPQL609"):
        require_possible(_limited(step, 2), record, data)


def test_letters_of_newer_alphabets_are_let_through() -> None:
    """Whoever verifies may have another version of Unicode than whoever ran."""
    release = made()
    step, data = release.plan.step("flights"), release.plan.spec.data
    for word in ("\U00011f5a", "a\u00a0b", "\u3000"):
        record = _record(release, (of(step, (word,), 400),))
        require_possible(step, record, data)


@pytest.mark.parametrize(
    "change",
    [
        {"delta": Fraction(1, 10**9)},
        {"half": 1},
        {"usual": 1},
        {"certain": 1},
        {"most": 1},
        {"shown_from": 1},
        {"keys": 1},
        {"epsilon": Fraction(1, 100)},
        {"loss": Fraction(1, 100)},
    ],
    ids=str,
)
def test_an_altered_search_is_no_plan(change: dict[str, object]) -> None:
    """What a plan says of its searches is what its spec compiles to."""
    release = made()
    steps = tuple(
        replace(
            step,
            search=replace(step.search, **change),  # type: ignore[arg-type]
        )
        if step.name == "flights" and step.search is not None
        else step
        for step in release.plan.steps
    )
    plan = replace(release.plan, steps=steps)
    results = tuple(
        Result(step=step, values=one.values)
        for step, one in zip(steps, release.results, strict=True)
    )
    assert "DPQL607" == code(replace(release, plan=plan, results=results))


def test_delta_and_loss_are_those_of_the_plan() -> None:
    """A guarantee that says less than the searches spend is refused."""
    release = made()
    predicate = check(seal(payload_of(release), [STEWARD])).predicate
    assert predicate.guarantee.delta == release.plan.delta_spent == Fraction("1e-6")
    events = sum(step.delta for step in release.plan.steps)
    assert release.plan.delta == events
    part = next(
        part
        for one in predicate.statistics
        if one.name == "flights"
        for part in one.parts
    )
    assert part.delta == events / 2
    assert "truncated_geometric" == part.mechanism


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_least_number_is_the_mechanisms_own(mechanism: str) -> None:
    """It is the first that the mechanism calls an outcome."""
    step = private_plan(mechanism=mechanism, shown_from=7).step("flights")
    assert step.search is not None
    finder = SEARCHES[step.search.noise.mechanism]
    noise = finder.restore(dict(step.search.noise.parameters))
    least = least_shown(step.search) - 6
    assert finder.is_outcome(noise, least)
    assert not finder.is_outcome(noise, least - 1)
    outcomes = KeyOutcomes(step)
    assert outcomes.holds(Fraction(least + 6))
    assert not outcomes.holds(Fraction(least + 5))


def _limited(step: Step, most: int) -> Step:
    search: Search | None = step.search
    assert search is not None
    return replace(step, search=replace(search, most=most))


def _record(
    release: Release, values: tuple[Value, ...], name: str = "flights"
) -> StatisticRecord:
    """Return the record of a statistic with other values."""
    changed = forged(release, **{name: lambda _: values})
    known = verified(release).predicate
    predicate = predicate_of(
        changed,
        day=verified(release).day,
        ledger=None,
        approvals=(),
        implementation=known.implementation,
    )
    return next(one for one in predicate.statistics if one.name == name)


def test_plans_of_both_noises_differ() -> None:
    """The tests above are of two mechanisms."""
    plans: list[Plan] = [made(mechanism=name).plan for name in MECHANISMS]
    assert plans[0].in_rho != plans[1].in_rho
