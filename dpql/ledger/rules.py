"""What a ledger refuses, whoever asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.errors import LedgerFault
from dpql.ledger.account import Account, Run, State, unit_of
from dpql.ledger.entry import Head
from dpql.ledger.places import Place, place_of
from dpql.model.plan import Plan

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_GREATEST = Fraction(10) ** 6
_FINEST = 10**40


def refuse_bound(
    place: Place, dataset: str, bound: Mapping[str, Sequence[str]]
) -> None:
    """Refuse data of another dataset, and data that are not this one's (DPQL716).

    ``bound`` says for each dataset where its data were and are, as far as its owner
    said so.
    """
    refuse_taken(place, dataset, bound)
    there = place_of(bound[dataset][-1]) if bound.get(dataset) else None
    if there is not None and not place.lies_in(there):
        name = shown(dataset)
        raise LedgerFault.of(
            "DPQL716",
            f"the owner bound `{name}` to another place than that of these data",
            hint="if the data moved, the owner says so, and the budget goes on: "
            f"`dpql ledger bind {name} --data PLACE`",
        )


def refuse_taken(
    place: Place, dataset: str, bound: Mapping[str, Sequence[str]]
) -> None:
    """Refuse data that are, or ever were, bound to another dataset (DPQL716).

    A place that was left stays taken: else moving the data would free them for a
    second budget.
    """
    for name, texts in bound.items():
        others = [] if name == dataset else map(place_of, texts)
        if any(there is not None and place.meets(there) for there in others):
            raise LedgerFault.of(
                "DPQL716",
                f"the owner bound these data to `{shown(name)}`, not to "
                f"`{shown(dataset)}`",
                hint="data have one budget, whatever a spec calls them",
            )


def refuse_name(dataset: str) -> None:
    """Refuse a name that is not plain letters, digits, dots and dashes (DPQL710)."""
    if _NAME.fullmatch(dataset) is None:
        raise LedgerFault.of(
            "DPQL710",
            f"`{shown(dataset)}` is no name for a dataset",
            hint="letters, digits, `.`, `_` and `-`, at most 100",
        )


def refuse_cap(cap: Fraction, *, above: Fraction) -> None:
    """Refuse a cap that is not above another one, or beyond any use (DPQL710)."""
    if not above < cap <= _GREATEST or cap.denominator > _FINEST:
        raise LedgerFault.of(
            "DPQL710",
            f"the cap must be above {above} and at most {_GREATEST}",
            hint="a cap is raised, never lowered: what is promised stays promised",
        )


def refuse_unit(account: Account, plan: Plan) -> None:
    """Refuse a plan that protects somebody else than the owner asks (DPQL704)."""
    privacy = plan.spec.privacy
    unit = unit_of(privacy.unit)
    if unit != account.unit:
        raise LedgerFault.of(
            "DPQL704",
            f"the budget protects `{shown(account.unit)}`, the plan `{shown(unit)}`",
            hint="epsilons of different units do not add up",
        )
    if privacy.neighbours is not account.neighbours:
        raise LedgerFault.of(
            "DPQL704",
            f"the budget is for {account.neighbours.value}, "
            f"the plan for {privacy.neighbours.value}",
            hint="epsilons of different neighbours do not add up",
        )


def refuse_overspending(account: Account, epsilon: Fraction) -> None:
    """Refuse a debit that does not fit under the cap (DPQL703)."""
    if account.committed + epsilon > account.cap:
        waiting = account.reserved and account.spent + epsilon <= account.cap
        raise LedgerFault.of(
            "DPQL703",
            f"ε = {epsilon} does not fit: {account.committed} of {account.cap} "
            f"is spent or held back, {account.left} is left",
            hint=_recovery(account)
            if waiting
            else "spend less, or ask the owner for `dpql ledger raise-cap`",
        )


def refuse_runs(account: Account, plan: str, allowed: int | None) -> None:
    """Refuse a plan that was run as often as its reviewers allow (DPQL715)."""
    if allowed is None:
        return
    states = [run.state for run in account.runs if run.plan == plan]
    made = len(states) - states.count(State.CANCELLED)
    if made >= allowed:
        runs = "1 run" if allowed == 1 else f"{allowed} runs"
        raise LedgerFault.of(
            "DPQL715",
            f"the approvals allow {runs} of this plan, used up by now",
            hint=_recovery(account)
            if State.RESERVED in states
            else f"a reviewer can allow one more in a new approval: "
            f"`dpql approve PLAN --runs {made + 1}`",
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
                hint="an old copy was put back, a copy or another ledger was used for "
                "the same data, or the chain was rewritten; see `dpql explain DPQL706`",
            )


def refuse_lost(
    account: Account, witnessed: Iterable[Head], known: Iterable[Head]
) -> None:
    """Refuse a chain that lacks a head somebody has seen, or has no entry at all.

    A dataset that a witness knows and the ledger does not was taken out (DPQL706);
    one that no witness knows was never opened (DPQL701).
    """
    if account.seq:
        refuse_rollback(account, known)
        return
    refuse_rollback(account, witnessed)
    raise LedgerFault.of(
        "DPQL701",
        "that dataset is not open in the ledger",
        hint="the owner opens it: `dpql ledger open DATASET --epsilon CAP "
        "--unit COLUMN`",
    )


def refuse_state(run: Run | None, needed: State) -> Run:
    """Return the run if it is in the state; refuse it otherwise.

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
