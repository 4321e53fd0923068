"""The verbs behind which rows and keys are: run, rehearse, sign, verify, approve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpql.ledger import Ledger
    from dpql.model.plan import Plan
    from dpql.model.release import Rehearsal, Release
    from dpql.reports.keys import Signer
    from dpql.reports.report import Report
    from dpql.reports.trust import Trust


def run(
    plan: Plan,
    frames: Mapping[str, object],
    *,
    engine: str | None = None,
    progress: Callable[[], None] | None = None,
) -> Release:
    """Return noisy values: the only verb that sees rows or draws coins.

    Nothing is debited here; `dpql.api.execute.execute` keeps a ledger too.

    >>> import polars
    >>> from dpql.api import plan as decide
    >>> decided = decide("specs/smallest_mean.yaml")
    >>> frame = polars.DataFrame({"age": [41] * 120})
    >>> released = run(decided, {decided.spec.data.source: frame})
    >>> released  # doctest: +ELLIPSIS
    <release of class_age, plan ..., 1 statistic>

    Args:
        plan: what to do.
        frames: for the plan's source a path, glob or URL, a polars frame, or anything
            with the Arrow C stream interface (pandas, pyarrow, duckdb).
        engine: what aggregates the rows; None is what follows from the data.
        progress: called now and then; it learns nothing of the data.

    Raises:
        dpql.errors.PlanFault: the plan is not what its spec compiles to (4xx).
        dpql.errors.RunFault: the data do not fit the plan (5xx).
    """
    from dpql.curator import run as run_plan
    from dpql.planner import audit

    # A plan that was made by other means has not been audited yet.
    audit(plan)
    return run_plan(plan, frames, engine=engine, progress=progress)


def rehearse(plan: Plan, *, rows: int = 1_000, seed: int | str = 0) -> Rehearsal:
    """Return what a run on invented rows gives; it can never be signed as a release.

    >>> from dpql.api import plan as decide
    >>> decided = decide("specs/district_wages.yaml")
    >>> rehearse(decided, seed=7)  # doctest: +ELLIPSIS
    <rehearsal of district_wages_2025, plan ..., 3 statistics>
    >>> rehearse(decided, seed=7) == rehearse(decided, seed=7)
    True

    Args:
        plan: what to rehearse.
        rows: how many rows are invented.
        seed: the same seed gives the same numbers.

    Raises:
        dpql.errors.RunFault: the plan needs another number of rows (DPQL507).
    """
    from dpql.curator import rehearse as rehearse_plan

    return rehearse_plan(plan, rows, seed)


def sign(
    release: Release, *keys: Signer | str | Path, day: date | None = None
) -> Report:
    """Return a signed report on a release that no ledger has debited.

    ``report.write(folder)`` writes it with its tables and its page.

    >>> from tempfile import TemporaryDirectory
    >>> import polars
    >>> from dpql.api import plan as decide
    >>> from dpql.reports.keys import new_key
    >>> decided = decide("specs/smallest_mean.yaml")
    >>> released = run(decided, {"class": polars.DataFrame({"age": [41] * 120})})
    >>> with TemporaryDirectory() as folder:
    ...     public = new_key(Path(folder, "steward"), None)
    ...     report = sign(released, Path(folder, "steward"))
    >>> [name for name, _ in report.files][:3]
    ['dictionary.md', 'release.csv', 'release.parquet']

    Args:
        release: what `run` returned.
        keys: keys, or paths of key files without passphrase; at least one.
        day: the date that the report bears; today if absent.

    Raises:
        dpql.errors.PlanFault: its plan is not what its spec compiles to (4xx).
        dpql.errors.VerifyFault: a key cannot be used, or it is a rehearsal (6xx).
    """
    from dpql.api.versions import stated_versions
    from dpql.planner import audit
    from dpql.reports.keys import load_key
    from dpql.reports.report import sign as sign_release

    audit(release.plan)
    signers = [
        load_key(Path(key)) if isinstance(key, str | Path) else key for key in keys
    ]
    return sign_release(
        release,
        signers,
        day=day or datetime.now(UTC).date(),
        ledger=None,
        versions=stated_versions(),
    )


def verify(
    report: Report | str | Path,
    trust: Trust | str | Path,
    *,
    plan: Plan | None = None,
    ledger: Ledger | str | Path | None = None,
) -> Release:
    """Return the release that a report vouches for, or raise.

    Every claim is derived again: the plan, its loss, each accuracy and interval, the
    lattice of each value, the digests of the tables and the page.

    >>> from tempfile import TemporaryDirectory
    >>> import polars
    >>> from dpql.api import plan as decide
    >>> from dpql.reports.keys import new_key
    >>> from dpql.reports.trust import parse_trust, trust_line
    >>> decided = decide("specs/smallest_mean.yaml")
    >>> released = run(decided, {"class": polars.DataFrame({"age": [41] * 120})})
    >>> with TemporaryDirectory() as folder:
    ...     public = new_key(Path(folder, "steward"), None)
    ...     report = sign(released, Path(folder, "steward"))
    >>> signers = parse_trust(trust_line(public, "steward", ("dpql-release",)))
    >>> verify(report, signers) == released
    True

    Args:
        report: a report, or the path of a release folder or an envelope.
        trust: whose signatures count; a file in the format of ``allowed_signers``.
        plan: the plan that it must be of, if one is expected.
        ledger: the ledger that must know it, if there is one to ask; or its path or
            address.

    Raises:
        dpql.errors.VerifyFault: it is not to be believed (6xx).
        dpql.errors.LedgerFault: the ledger itself is not to be believed (7xx).
    """
    from dpql.api.verification import verify_release, verify_report
    from dpql.ledger import open_ledger
    from dpql.reports.trust import load_trust

    if isinstance(ledger, str | Path):
        ledger = open_ledger(str(ledger))
    known = load_trust(Path(trust)) if isinstance(trust, str | Path) else trust
    if isinstance(report, str | Path):
        return verify_release(Path(report), known, plan=plan, ledger=ledger).release
    return verify_report(report, known, plan=plan, ledger=ledger).release


def approve(
    plan: Plan,
    key: Signer | str | Path,
    *,
    dataset: str | None = None,
    runs: int = 1,
    until: date | None = None,
) -> bytes:
    """Return a reviewer's signature on a plan, as an envelope to keep beside it.

    >>> from tempfile import TemporaryDirectory
    >>> from dpql.api import plan as decide
    >>> from dpql.reports.approval import verify_approvals
    >>> from dpql.reports.keys import new_key
    >>> from dpql.reports.trust import parse_trust, trust_line
    >>> decided = decide("specs/smallest_mean.yaml")
    >>> with TemporaryDirectory() as folder:
    ...     public = new_key(Path(folder, "officer"), None)
    ...     envelope = approve(
    ...         decided, Path(folder, "officer"), dataset="class-2026", runs=12
    ...     )
    >>> reviewers = parse_trust(trust_line(public, "officer", ("dpql-plan",)))
    >>> today = date(2026, 11, 16)
    >>> allowed = verify_approvals(
    ...     [envelope], decided, reviewers, day=today, dataset="class-2026"
    ... )
    >>> allowed.runs
    12

    Args:
        plan: what may be run.
        key: the reviewer's key, or the path of a key file without passphrase.
        dataset: the owner's name of the data that it may run on; that of the plan's
            source if absent.
        runs: how often it may be run; all runs of the plan in a ledger count.
        until: the last day on which it may be run.

    Raises:
        dpql.errors.PlanFault: the plan is not what its spec compiles to (4xx).
        dpql.errors.VerifyFault: the key cannot be used, the number of runs is out of
            range, or no dataset can have that name (6xx).
    """
    from dpql.planner import audit
    from dpql.reports.approval import approve as sign_plan
    from dpql.reports.keys import load_key

    audit(plan)
    signer = load_key(Path(key)) if isinstance(key, str | Path) else key
    return sign_plan(plan, signer, dataset=dataset, runs=runs, until=until)
