"""The rules of a ledger: what it refuses, and with which message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.errors import LedgerFault
from dpql.ledger.account import Account, Run, State, unit_of
from dpql.ledger.costs import OPEN_EVENTS, cost_of
from dpql.ledger.data_identity import DataIdentity, identify
from dpql.ledger.entry import Head, Reserved
from dpql.ledger.tracks import Cost
from dpql.model.figures import decimal, rational
from dpql.model.plan import Plan

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_GREATEST = Fraction(10) ** 6
_FINEST = 10**40
_FINEST_DELTA = 10**300


def refuse_foreign_data(
    data: DataIdentity, account: Account, accounts: Mapping[str, Account]
) -> None:
    """Refuse data of another dataset, and data that are not this one's (DPQL716)."""
    refuse_taken(data, account, accounts)
    bound = identify(account.locations[-1]) if account.locations else None
    if bound is not None and not data.is_within(bound):
        name = shown(account.dataset)
        raise LedgerFault.of(
            "DPQL716",
            f"`{name}` is bound to data at another location",
            hint="if its data have moved, or this is the file of a new month, the "
            f"owner says so and the budget goes on: `dpql ledger bind {name} --data "
            "LOCATION`; a folder or a pattern as LOCATION covers the files of all "
            "months",
        )


def refuse_taken(
    data: DataIdentity, account: Account, accounts: Mapping[str, Account]
) -> None:
    """Refuse data that are, or ever were, bound to another dataset (DPQL716).

    An earlier location stays taken. Otherwise an owner could move data to free them for
    a second budget.
    """
    for name, other in accounts.items():
        if name != account.dataset and _clash(data, account, other):
            own = shown(account.dataset)
            opening = (
                "" if account.seq else f"`dpql ledger open {own}` without --data, "
            )
            then = "then " if opening else ""
            raise LedgerFault.of(
                "DPQL716",
                f"these data are bound to `{shown(name)}`, not to `{own}`",
                hint=f"run the plan with `--dataset {shown(name)}`: data have one "
                "budget, whatever a spec calls them. An owner who means to give them "
                f"a second one says so: {opening}{then}`dpql ledger bind {own} --data "
                "LOCATION --shared`",
            )


def sharers(
    data: DataIdentity, account: Account, accounts: Mapping[str, Account]
) -> tuple[str, ...]:
    """Return the other datasets that have these data, shared or not."""
    return tuple(
        name
        for name, other in accounts.items()
        if name != account.dataset and any(_overlaps(data, other))
    )


def partners(account: Account, accounts: Mapping[str, Account]) -> tuple[str, ...]:
    """Return the datasets that were given this one's data and that it does not name.

    The locations do not matter: a copy of the data has the same people in it.
    """
    return tuple(
        name
        for name, other in accounts.items()
        if account.dataset in other.sharing and name not in account.sharing
    )


def _clash(data: DataIdentity, account: Account, other: Account) -> bool:
    """Tell whether data are another dataset's, and nobody decided to share them."""
    for share in account.shares:
        shared = identify(share.location)
        if other.dataset in share.datasets and shared and data.is_within(shared):
            return False
    given = {one.location for one in other.shares if account.dataset in one.datasets}
    return any(text not in given for text in _overlaps(data, other))


def _overlaps(data: DataIdentity, other: Account) -> Iterator[str]:
    """Yield the locations of a dataset that may lead to some of these data."""
    for text in other.locations:
        bound = identify(text)
        if bound is not None and data.overlaps(bound):
            yield text


def refuse_name(dataset: str) -> None:
    """Refuse a name that is not plain letters, digits, dots and dashes (DPQL710)."""
    if _NAME.fullmatch(dataset) is None:
        raise LedgerFault.of(
            "DPQL710",
            f"`{shown(dataset)}` cannot name a dataset",
            hint="use at most 100 letters, digits, `.`, `_` and `-`",
        )


def refuse_cap(cap: Fraction, *, above: Fraction) -> None:
    """Refuse a cap that is too low, too high or too finely divided (DPQL710)."""
    if not above < cap <= _GREATEST or cap.denominator > _FINEST:
        raise LedgerFault.of(
            "DPQL710",
            f"the cap must be above {above} and at most {_GREATEST}",
            hint="a cap can be raised, never lowered",
        )


def refuse_unit(account: Account, plan: Plan) -> None:
    """Refuse a plan that protects another unit than the owner asks (DPQL704)."""
    privacy = plan.spec.privacy
    unit = unit_of(privacy.unit)
    if unit != account.unit:
        raise LedgerFault.of(
            "DPQL704",
            f"the budget protects `{shown(account.unit)}`, the plan `{shown(unit)}`",
            hint="epsilons of different units do not add up: write "
            f"`unit: {shown(account.unit)}`, or open another dataset for this unit",
        )
    if privacy.neighbours is not account.neighbours:
        raise LedgerFault.of(
            "DPQL704",
            f"the budget is for {account.neighbours.value}, "
            f"the plan for {privacy.neighbours.value}",
            hint="epsilons of different neighbours do not add up: write `neighbours: "
            f"{account.neighbours.value}`, or open another dataset for this relation",
        )


def refuse_overspending(account: Account, plan: Plan) -> Cost:
    """Return what a plan costs; refuse a debit that does not fit (DPQL703).

    Raises:
        LedgerFault: the plan spends a delta, and the budget has none (DPQL718).
    """
    cost = cost_of(plan, account)
    promise, sums = account.promise, account.sums.plus(cost)
    if promise.holds(sums):
        return cost
    waiting = account.reserved and promise.holds(account.sums_spent.plus(cost))
    hint = "spend less, or ask the owner for `dpql ledger raise-cap`"
    amount = promise.amounts_to(sums)
    if not account.delta:
        words = f"ε = {plan.spent} does not fit"
    elif cost.delta > account.events_left:
        raise _unkept(account, cost, hint=_recovery(account) if waiting else None)
    elif amount is None:
        words = "its delta does not fit"
    else:
        words = f"all runs would amount to ε {rational(amount)}"
    raise LedgerFault.of(
        "DPQL703",
        f"{words}: {_amount(account, account.committed)} of {account.cap} is spent or "
        f"held back, {_amount(account, account.left)} is left",
        hint=_recovery(account) if waiting else hint,
    )


def _unkept(account: Account, cost: Cost, *, hint: str | None) -> LedgerFault:
    """Return the fault of keys that are found for more delta than is left for them."""
    asked, left, kept = (
        decimal(each, 3, up=True)
        for each in (cost.delta, account.events_left, account.delta_events)
    )
    return LedgerFault.of(
        "DPQL703",
        f"the keys that the plan finds need a delta of {asked}: {left} is left of the "
        f"{kept} that the budget keeps for such keys",
        hint=hint
        or f"write a smaller `delta`, or ask the owner for a new budget, {OPEN_EVENTS}",
    )


def reservation_of(account: Account, plan: Plan) -> Reserved:
    """Return the entry that holds back what a plan costs; refuse one that does not fit.

    Raises:
        LedgerFault: the budget does not allow it (DPQL703, DPQL718).
    """
    cost = refuse_overspending(account, plan)
    after = account.promise.amounts_to(account.sums.plus(cost))
    assert after is not None, "it fits"
    return Reserved(
        plan=plan.digest,
        epsilon=cost.epsilon,
        cap=account.cap,
        before=account.committed,
        after=after,
        rho=cost.rho,
        delta=cost.delta,
        renyi=cost.renyi,
    )


def refuse_delta(delta: Fraction, events: Fraction) -> None:
    """Refuse a delta that is no small probability, or less than a part (DPQL710)."""
    fine = max(delta.denominator, events.denominator) <= _FINEST_DELTA
    if not (0 <= events <= delta < 1 and fine):
        raise LedgerFault.of(
            "DPQL710",
            "the delta must be below 1, and at least what of it is kept for events",
            hint="write a small probability such as 1e-6",
        )


def _amount(account: Account, amount: Fraction) -> str:
    """Return an amount exactly, or shortly where it is a converted one."""
    return rational(amount) if account.delta else str(amount)


def refuse_runs(
    account: Account, accounts: Mapping[str, Account], plan: str, allowed: int | None
) -> None:
    """Refuse a plan that was run as often as its reviewers allow (DPQL715).

    Runs on every dataset of the ledger count.
    """
    if allowed is None:
        return
    counts = {name: other.made(plan) for name, other in accounts.items()}
    made, own = sum(counts.values()), counts.get(account.dataset, 0)
    if made >= allowed:
        runs = "1 run" if allowed == 1 else f"{allowed} runs"
        also = f" ({made - own} of them on other datasets)" if made > own else ""
        waiting = any(
            run.plan == plan and run.state is State.RESERVED for run in account.runs
        )
        raise LedgerFault.of(
            "DPQL715",
            f"the approvals allow {runs} of this plan, all used{also}",
            hint=_recovery(account)
            if waiting
            else f"a reviewer can allow one more in a new approval: `dpql approve "
            f"PLAN --dataset {shown(account.dataset)} --runs {made + 1} --out NEWFILE`",
        )


def _recovery(account: Account) -> str:
    return (
        "a run that has not ended holds its share back; if it died, "
        f"`dpql ledger recover {account.dataset}` gives it back"
    )


def refuse_rollback(account: Account, known: Iterable[Head]) -> None:
    """Refuse a chain that lacks a head that somebody has seen (DPQL706)."""
    for head in known:
        if not account.holds(head):
            raise LedgerFault.of(
                "DPQL706",
                f"the ledger does not hold entry {head.seq} of "
                f"`{shown(head.dataset)}` as it was seen before",
                hint="somebody restored an old copy, used a copy or another ledger for "
                "the same data, or rewrote the chain; see `dpql explain DPQL706`",
            )


def refuse_lost(
    account: Account, witnessed: Iterable[Head], known: Iterable[Head]
) -> None:
    """Refuse a chain that lacks a head somebody has seen, or has no entry at all.

    A dataset that a witness knows and the ledger does not was removed (DPQL706);
    one that no witness knows was never opened (DPQL701).
    """
    if account.seq:
        refuse_rollback(account, known)
        return
    refuse_rollback(account, witnessed)
    raise LedgerFault.of(
        "DPQL701",
        f"`{shown(account.dataset)}` is not open in the ledger",
        hint=f"its owner opens it: `dpql ledger open {shown(account.dataset)} "
        "--epsilon CAP --unit COLUMN`",
    )


def refuse_state(run: Run | None, needed: State) -> Run:
    """Return the run if it is in the needed state; refuse it otherwise.

    Raises:
        LedgerFault: the run has ended, or was never begun (DPQL709).
    """
    if run is None or run.state is not needed:
        state = "unknown" if run is None else run.state.value
        raise LedgerFault.of(
            "DPQL709",
            f"the run is {state}, not {needed.value}",
            hint="`dpql ledger show` lists the runs and their states",
        )
    return run
