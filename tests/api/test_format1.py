"""What dpql 0.1 signed: it verifies for ever, by the rules it was made by."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from cli.started import dpql as started
from golden import VECTORS
from reports.sample_releases import STEWARD

import dpql
from dpql.api.execute import execute
from dpql.api.run_request import RunRequest
from dpql.api.verification import verify_release
from dpql.curator import rehearse
from dpql.curator import run as run_plan
from dpql.errors import PlanFault, VerifyFault
from dpql.model.codec import canonical
from dpql.planner import audit_published
from dpql.reports.envelope import seal
from dpql.reports.trust import load_trust, parse_trust, trust_line
from dpql.reports.verify import verify

ARCHIVE = VECTORS / "format1" / "releases.tar.xz"
NAMES = ("grouped", "replaced", "survey", "targets")


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the releases, their plans and the trust file."""
    folder = tmp_path_factory.mktemp("format1")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


def payload_of(folder: Path) -> dict[str, Any]:
    """Return the statement that an envelope holds."""
    envelope = json.loads((folder / "release.dsse.json").read_bytes())
    document: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    return document


@pytest.mark.parametrize("name", NAMES)
def test_a_release_of_format_1_verifies(old: Path, name: str) -> None:
    """Folder, envelope alone and expected plan are believed as they were."""
    folder = old / "releases" / name
    trust = old / "allowed_signers"
    plan = dpql.read(old / f"{name}.plan.json")
    release = dpql.verify(folder, trust, plan=plan)
    assert 1 == release.plan.version
    assert release == dpql.verify(folder / "release.dsse.json", trust)
    assert release.to_csv() == (folder / "release.csv").read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_format_1_keeps_its_bytes(old: Path, name: str) -> None:
    """The file, the plan inside the report and the plan that is read are the same."""
    written = (old / f"{name}.plan.json").read_bytes()
    inside = payload_of(old / "releases" / name)["predicate"]
    assert written == dpql.read(old / f"{name}.plan.json").to_json()
    assert written == canonical(inside["plan"])
    assert inside["plan_digest"] == dpql.read(old / f"{name}.plan.json").digest


def test_approval_and_ledger_of_an_old_release_are_seen(old: Path) -> None:
    """The approval inside still counts, and what was debited still stands."""
    trust = load_trust(old / "allowed_signers")
    verified = verify_release(old / "releases" / "grouped", trust)
    assert ["officer@example.org"] == [r.principal for r in verified.approved.reviewers]
    assert verified.predicate.ledger is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_format_1_is_refused_as_old(old: Path, name: str) -> None:
    """Whoever runs, rehearses, signs or approves it is told to plan again."""
    plan = dpql.read(old / f"{name}.plan.json")
    release = dpql.verify(old / "releases" / name, old / "allowed_signers")
    acts: tuple[Callable[[], object], ...] = (
        lambda: dpql.run(plan, {plan.spec.data.source: "nowhere.csv"}),
        lambda: rehearse(plan, min(plan.spec.data.rows.count, 99), 1),
        lambda: dpql.sign(release, "no key"),
        lambda: dpql.approve(plan, "no key"),
        lambda: run_plan(plan, {plan.spec.data.source: "nowhere.csv"}),
        lambda: execute(
            RunRequest(
                plan=plan,
                frames={plan.spec.data.source: "nowhere.csv"},
                ledger=None,
                dataset="data",
                signers=(),
                day=date(2026, 11, 18),
            )
        ),
    )
    for act in acts:
        with pytest.raises(PlanFault) as caught:
            act()
        assert ["DPQL404"] == [d.code for d in caught.value.diagnostics]


@pytest.mark.parametrize("command", ["run", "approve", "rehearse"])
def test_commands_refuse_a_plan_of_format_1(old: Path, command: str) -> None:
    """Before anything is asked, read or debited; the code says why."""
    path = str(old / "survey.plan.json")
    more = {
        "run": ["--data", "survey=x.csv", "--key", "none", "--no-ledger", "--yes"],
        "approve": ["--key", "none", "--yes"],
        "rehearse": [],
    }[command]
    done = started(command, path, *more, folder=old)
    assert 0 != done.returncode
    assert "DPQL404" in done.stderr
    assert "debit" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "releases/replaced"],
        ["show", "releases/replaced", "--format", "html"],
        ["show", "replaced.plan.json"],
        ["show", "grouped.plan.json", "--format", "json"],
        ["diff", "grouped.plan.json", "grouped.yaml"],
        ["verify", "releases/grouped", "--plan", "grouped.plan.json"],
        ["verify", "releases/replaced"],
        ["verify", "releases/survey/release.dsse.json"],
        ["verify", "releases/targets"],
    ],
)
def test_commands_that_only_look_take_format_1(old: Path, arguments: list[str]) -> None:
    """What was released can be shown, compared and verified."""
    done = started(*arguments, folder=old)
    assert "Traceback" not in done.stderr
    assert 0 == done.returncode, done.stderr
    if arguments[0] == "verify":
        assert "the wording of a report by dpql 0.1" in done.stdout


FAULT = (
    "dpql 0.1 divided by the declared number of rows, and counted the rows beyond the "
    "bound of a unit at their fill: income_total, income_mean, income_variance, "
    "level_mean, age_level, age_income are wrong where a unit had more rows than that"
)


@pytest.mark.parametrize("name", NAMES)
def test_fault_of_0_1_is_told_where_it_is(old: Path, name: str) -> None:
    """Verifying believes the signature, and says that the numbers are wrong."""
    trust = load_trust(old / "allowed_signers")
    verified = verify_release(old / "releases" / name, trust)
    found = [c.text for c in verified.checks if c.name == "known fault" and c.warning]
    assert found == ([FAULT] if name == "replaced" else [])


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_old_release_is_shown_with_its_fault(old: Path, form: str) -> None:
    """Whoever looks is warned, and reads of no row dropped that was not."""
    done = started("show", "releases/replaced", "--format", form, folder=old)
    said = " ".join(done.stdout.replace("\\", "").split()).casefold()
    assert FAULT.casefold() in said
    assert "totals are of those rows" not in said
    assert "counted the others at their fill" in said
    done = started("show", "releases/grouped", "--format", form, folder=old)
    assert "totals are of those rows" in " ".join(done.stdout.split())


def test_old_plan_and_registry_say_what_became_of_the_rows(old: Path) -> None:
    """No other text about the old release calls the rows dropped either."""
    shown = started("show", "replaced.plan.json", folder=old).stdout
    export = ("export", "registry", "releases/replaced", "--curator", "Office")
    drafted = started(*export, folder=old).stdout
    for text in (" ".join(one.split()) for one in (shown, drafted)):
        assert "totals are of those rows" not in text
        assert "counted the others at their fill" in text
    assert "how many are kept is private" not in shown


PROSE = {"definition", "accuracy_of", "post_processing", "words", "variant"}


def verdict(old: Path, predicate: dict[str, Any], name: str) -> str | None:
    """Return how a statement with that predicate, well signed, is refused."""
    document = payload_of(old / "releases" / name) | {"predicate": predicate}
    trust = parse_trust(
        trust_line(STEWARD.public, "steward@example.org", ("dpql-release",))
    )
    try:
        verify(seal(canonical(document), [STEWARD]), trust, audit=audit_published)
    except VerifyFault as fault:
        return fault.diagnostics[0].code
    return None


def leaves(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every text in a document."""
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, item in items:
        if isinstance(item, str):
            yield (*path, key)
        yield from leaves(item, (*path, key))


@pytest.mark.heavy
def test_every_number_of_an_old_report_is_derived_again(old: Path) -> None:
    """Whatever a signer alters is noticed, but for prose, the date and the versions."""
    given = payload_of(old / "releases" / "survey")["predicate"]
    assert verdict(old, given, "survey") is None
    outside = {"plan", "implementation", "date"}
    paths = [path for path in leaves(given) if path[0] not in outside]
    unnoticed = set()
    for path in paths:
        predicate = copy.deepcopy(given)
        node = predicate
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = "1" if node[path[-1]] != "1" else "2"
        if verdict(old, predicate, "survey") is None:
            unnoticed.add("unprotected" if "unprotected" in path else path[-1])
    assert {*PROSE, "unprotected"} == unnoticed


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("steps", 1, "parts", 0, "epsilon"), "1/2"),
        (("steps", 1, "parts", 0, "measure", "sensitivity"), "1"),
        (("steps", 1, "bound", "excess"), "drop"),
        (("steps", 1, "moments", 0, "shift"), "3"),
        (("steps", 1, "grids", 0, "steps"), "0"),
        (("steps", 1, "moments", 0, "name"), "w"),
        (("version",), "2"),
        (("version",), "3"),
    ],
)
def test_an_altered_plan_inside_an_old_report_is_refused(
    old: Path, path: tuple[Any, ...], value: str
) -> None:
    """Its digest restated and all: the plan must be what format 1 made of its spec."""
    predicate = payload_of(old / "releases" / "replaced")["predicate"]
    node = predicate["plan"]
    for key in path[:-1]:
        node = node[key]
    assert value != node[path[-1]]
    node[path[-1]] = value
    written = canonical(predicate["plan"])
    predicate["plan_digest"] = hashlib.sha256(written).hexdigest()
    assert verdict(old, predicate, "replaced") in ("DPQL606", "DPQL607", "DPQL608")


def test_a_registry_record_of_an_old_release_is_made(old: Path) -> None:
    """`dpql export registry` takes what `verify` takes."""
    done = started(
        "export", "registry", "releases/grouped", "--curator", "x", folder=old
    )
    assert 0 == done.returncode, done.stderr
    assert "grouped_2025" in done.stdout
