"""Makes small releases without data, keys to sign them, and a trust file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from hashlib import sha256

import spec_text
from cryptography.hazmat.primitives.asymmetric import ed25519

from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Plan, Step
from dpql.model.release import Outcome, Rehearsal, Release, Result, Value, cells
from dpql.planner import audit, plan
from dpql.reports.approval import approve
from dpql.reports.envelope import seal
from dpql.reports.file_names import signed_names
from dpql.reports.keys import Signer
from dpql.reports.predicate import REHEARSAL, RELEASE, LedgerRecord, ReportPredicate
from dpql.reports.predicate_builder import build
from dpql.reports.statement import write_content, write_statement
from dpql.reports.tables import texts_of
from dpql.reports.trust import Trust, parse_trust, trust_line
from dpql.reports.verify import Verified, verify
from dpql.statistics.reading import reader_of

DAY = date(2026, 11, 16)
DATASET = "wages-2025"
VERSIONS = {"dpql": "0.1.0", "polars": "2.1.0", "gmpy2": "2.3.2"}


def signer(number: int) -> Signer:
    """Return a key that is the same in every run of the tests."""
    return Signer(ed25519.Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32))


STEWARD = signer(1)
OFFICER = signer(2)
STRANGER = signer(3)
EXPIRED = signer(4)


def trust_text() -> str:
    """Return the trust file of the tests."""
    lines = [
        "# who may do what",
        trust_line(STEWARD.public, "tester@example.org", ("dpql-release",)),
        trust_line(
            OFFICER.public,
            "officer@example.org",
            ("dpql-plan",),
            first=date(2026, 1, 1),
            until=date(2027, 6, 1),
        ),
        trust_line(
            EXPIRED.public,
            "tester@example.org",
            ("dpql-release", "dpql-plan"),
            until=date(2026, 11, 16),
        ),
    ]
    return "\n".join(lines) + "\n"


TRUST = parse_trust(trust_text())


def small_plan(purpose: str = "A test.") -> Plan:
    """Return a plan of two cells, one number each."""
    spec = spec_text.make_spec(
        {"region": "{type: category, keys: [a, b]}"},
        {"total": {"count": "rows", "by": "[region]", "spend": "{share: 1}"}},
        purpose=purpose,
    )
    return plan(spec)


def broad_plan(
    names: tuple[str, ...] = ("north", "south"), column: str = "district"
) -> Plan:
    """Return a plan with every kind of readout, mechanism and heading."""
    quoted = [f'"{name}"' for name in names]
    by = f'["{column}"]'
    spec = spec_text.make_spec(
        {
            "person": spec_text.ID,
            f'"{column}"': f"{{type: category, keys: [{', '.join(quoted)}]}}",
            "age": spec_text.integer(16, 100, "drop"),
            "wage": spec_text.decimal_column("0", "20000", Fraction(1, 100), "drop"),
        },
        {
            "headcount": {
                "count": "rows",
                "by": by,
                "where": "age >= 18 and not (wage == 0)",
                "spend": "{share: 1}",
            },
            "wage_sum": {"sum": "wage", "mechanism": "snapping", "spend": "{share: 1}"},
            "wage_mean": {
                "mean": "wage",
                "by": by,
                "mechanism": "snapping",
                "spend": "{share: 2}",
            },
            "age_spread": {"variance": "age", "spend": "{share: 1}"},
            "wage_ranks": {
                "quantile": "wage",
                "at": "[1/4, 1/2, 9/10]",
                "by": by,
                "spend": "{share: 1}",
            },
            "ages": {
                "histogram": "age",
                "bins": "[16, 25, 65, 100]",
                "spend": "{share: 1}",
            },
        },
        unit="person",
        contributes="{rows: 3, groups: 1}",
    )
    return plan(spec)


def _values(step: Step, wanted: Plan) -> Iterator[Value]:
    parts = [
        (MECHANISMS[part.noise.mechanism], part, part.noise.parameters)
        for part in step.parts
    ]
    read = reader_of(step)
    for number, cell in enumerate(cells(step, wanted.spec.data)):
        noisy = []
        for module, part, parameters in parts:
            noise = module.restore(dict(parameters))
            spacing = module.outcome(noise, 1) - module.outcome(noise, 0)
            middle = (part.measure.lower + 3 * part.measure.upper) // 4
            middle_step = ((middle - module.outcome(noise, 0)) / spacing).__floor__()
            noisy.append(module.outcome(noise, middle_step + 3 * number - 2))
        if step.picks:
            noisy = [Fraction(1_000 + 7 * number)]
        reading = read(noisy)
        yield Value(
            cell=cell,
            noisy=tuple(noisy),
            value=reading.value,
            lower=reading.lower,
            upper=reading.upper,
        )


def make_outcome(wanted: Plan, kind: type[Outcome] = Release) -> Outcome:
    """Return an outcome of the plan with noisy numbers that it can have."""
    results = tuple(
        Result(step=step, values=tuple(_values(step, wanted))) for step in wanted.steps
    )
    return kind(plan=wanted, results=results, coins="os.urandom", engine="polars")


def record(wanted: Plan) -> LedgerRecord:
    """Return a debit that fits the plan."""
    return LedgerRecord(
        dataset=DATASET,
        cap=max(Fraction(4), 1 + wanted.spent),
        before=Fraction(1, 2),
        after=Fraction(1, 2) + wanted.spent,
        seq=6,
        head="ab" * 32,
        data="bound",
        delta=2 * wanted.delta_spent,
    )


def files_of(outcome: Outcome) -> dict[str, bytes]:
    """Return the files of an outcome; three are stand-ins that no test reads."""
    others = {
        "release.parquet": b"PAR1",
        "report.html": b"<!doctype html>",
        "dictionary.md": b"# words",
    }
    found = {**texts_of(outcome), **others}
    return {name: found[name] for name in signed_names(outcome.plan)}


def make_payload(
    wanted: Plan,
    *,
    kind: type[Outcome] = Release,
    approvals: tuple[bytes, ...] = (),
    day: date = DAY,
) -> bytes:
    """Return the statement on an outcome of the plan."""
    return payload_of(make_outcome(wanted, kind), approvals=approvals, day=day)


def payload_of(
    outcome: Outcome, *, approvals: tuple[bytes, ...] = (), day: date = DAY
) -> bytes:
    """Return the statement on an outcome, whoever may sign it."""
    predicate = build(
        outcome,
        day=day,
        ledger=record(outcome.plan),
        approvals=approvals,
        versions=VERSIONS,
    )
    kind = RELEASE if isinstance(outcome, Release) else REHEARSAL
    return write_statement(
        write_content(kind, ReportPredicate, predicate),
        {name: sha256(data).hexdigest() for name, data in files_of(outcome).items()},
    )


@dataclass(frozen=True)
class Case:
    """A signed report with what is needed to verify it."""

    plan: Plan
    envelope: bytes

    @property
    def files(self) -> dict[str, bytes]:
        """The files that the report is about."""
        return files_of(make_outcome(self.plan))

    def verify(self, **options: object) -> Verified:
        """Verify the report, with its files."""
        given: dict[str, object] = {"files": self.files, **options}
        return check(self.envelope, **given)


def make_case(wanted: Plan | None = None, *, approved: bool = True) -> Case:
    """Return a signed report on a plan."""
    wanted = wanted or small_plan()
    approval = approve(wanted, OFFICER, dataset=DATASET, until=DAY)
    approvals = (approval,) if approved else ()
    payload = make_payload(wanted, approvals=approvals)
    return Case(wanted, seal(payload, [STEWARD]))


def check(envelope: bytes, trust: Trust = TRUST, **options: object) -> Verified:
    """Verify an envelope with the planner's audit."""
    return verify(envelope, trust, audit=audit, **options)  # type: ignore[arg-type]


def rehearsal_payload(wanted: Plan) -> bytes:
    """Return the statement on a rehearsal of the plan."""
    return make_payload(wanted, kind=Rehearsal)
