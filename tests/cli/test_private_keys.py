"""Private keys from a spec to a release that others verify, through the commands."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from cli.started import dpql, fine, refused
from private_specs import FREQUENT, RARE, frame, private_text

from dpql.ledger import open_ledger
from dpql.model.spec import Neighbours
from dpql.reports.keys import new_key
from dpql.reports.trust import trust_line

pytestmark = pytest.mark.cli

DATASET = "flights"


def project(folder: Path, *, planes: int = 300, **options: str | bool | int) -> Path:
    """Make everything up to a run in a folder: spec, rows, key, trust, budget."""
    (folder / "keys").mkdir(parents=True)
    text = private_text(**options)  # type: ignore[arg-type]
    (folder / "flights.yaml").write_text(text, "utf-8")
    pl.DataFrame(frame(planes)).write_csv(folder / "rows.csv")
    public = new_key(folder / "keys" / "steward", None)
    line = trust_line(public, "tester@example.org", ("dpql-release",))
    (folder / "allowed_signers").write_text(f"{line}\n", "utf-8")
    open_ledger(str(folder / "ledger.sqlite"), create=True).open_account(
        DATASET,
        cap=Fraction(10),
        unit="plane",
        neighbours=Neighbours.ADD_REMOVE,
        delta=Fraction(1, 10**5),
        events=Fraction(1, 10**6),
    )
    return folder


RUN = (
    *("run", "flights.yaml", "--data", "rows=rows.csv", "--dataset", DATASET),
    *("--key", "steward", "--out", "release", "--yes"),
)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a project that was run once: a list, others, declared and private keys."""
    folder = project(
        tmp_path_factory.mktemp("keys") / "project",
        listed=True,
        others=True,
        shown_from=5,
    )
    planned = dpql("plan", "flights.yaml", "--out", "flights.plan.json", folder=folder)
    assert planned.returncode == 0, planned.stderr
    run = dpql(*RUN, folder=folder)
    assert run.returncode == 0, run.stderr
    assert "δ = 1e-6 from flights" in run.stderr
    return folder


def test_a_plan_says_which_keys_will_be_shown(released: Path) -> None:
    """Before the data are read: in words and numbers, and what the ledger keeps."""
    text = fine(dpql("plan", "flights.yaml", folder=released))
    assert "a key with fewer than 5 units is never shown" in text
    assert "keys       dest, found by found: " in text
    assert "chance     δ 1e-6 for keys that one unit alone has" in text
    document = json.loads(
        fine(dpql("plan", "flights.yaml", "--format", "json", folder=released))
    )
    assert [line["found_by"] for line in document["keys"]] == ["found", "routes"]


def test_a_release_is_verified_and_shown(released: Path) -> None:
    """Signature, arithmetic with its delta, ledger; the frequent keys and others."""
    text = fine(dpql("verify", "release", "--ledger", "ledger.sqlite", folder=released))
    assert " ok  signature" in text
    assert "Σ ε = 4, Σ δ = 1/1000000" in text
    assert "the keys of found, routes are such as can be shown" in text
    assert " ok  ledger" in text
    assert " ok  page         report.html shows this report" in text
    shown = dpql("show", "release", folder=released).stdout
    for key in (*FREQUENT, "others"):
        assert key in shown
    assert "keys that few units have are not shown" in shown
    folder = released / "release"
    for file in folder.iterdir():
        assert RARE.encode() not in file.read_bytes(), file.name
    table = (folder / "table-found.csv").read_text("utf-8").splitlines()
    assert [line.partition(",")[0] for line in table] == ["dest", *FREQUENT]
    routes = (folder / "table-routes.csv").read_text("utf-8")
    assert [line.split(",")[:2] for line in routes.splitlines()[1:]] == [
        ["EWR", key] for key in FREQUENT
    ]
    delays = pl.read_csv(folder / "table-delays.csv")
    assert delays["dest"].to_list() == [*FREQUENT, "others"] * 2


def test_the_budget_of_keys_is_debited_and_spent(released: Path) -> None:
    """`ledger show` says what is left; a second run does not fit, for its delta."""
    text = fine(dpql("ledger", "show", folder=released))
    assert "1e-6 (1e-6 of it spent) for keys that are found" in text
    assert "ε 4, δ 1e-6" in text
    assert "room for about 0 more releases like the last" in text
    (account,) = json.loads(
        fine(dpql("ledger", "show", "--format", "json", folder=released))
    )
    assert account["delta_events_left"] == "0"
    assert account["runs"][0]["delta"] == "1/1000000"
    again = dpql(*RUN[:-3], "--out", "second", "--yes", "--again", folder=released)
    refused(again, 3, "DPQL703", "0 is left of the 1e-6 that the budget keeps")
    assert not (released / "second").exists()


def test_a_change_of_keys_is_judged(released: Path, tmp_path: Path) -> None:
    """Keys of fewer units: the promise is weaker, and the word says for which."""
    other = tmp_path / "other.yaml"
    text = (released / "flights.yaml").read_text("utf-8")
    other.write_text(text.replace("shown_from: 5", "shown_from: 2"), "utf-8")
    found = dpql("diff", released / "flights.plan.json", other)
    assert found.stdout.startswith("WEAKER")
    assert "keys of 2 to 4 units may be shown now" in found.stdout
    assert "more keys are shown" in found.stdout


def test_the_registry_gets_the_searches(released: Path) -> None:
    """With delta, mechanism, and what is not shown."""
    export = ("export", "registry", "release", "--curator", "Office")
    record = json.loads(dpql(*export, folder=released).stdout)["deployment"]
    assert "delta" in record["privacy_loss"]["privacy_parameters"]
    assert "keys: selection" in record["implementation"]["mechanisms"]


def test_a_release_without_any_key_is_one(tmp_path: Path) -> None:
    """Nothing is shown of rare keys, and the run does not fail for it."""
    folder = project(tmp_path / "empty", planes=1, others=True, shown_from=50)
    run = dpql(*RUN, folder=folder)
    assert run.returncode == 0, run.stderr
    assert "no key is shown: keys that few units have are not shown" in run.stdout
    text = fine(dpql("verify", "release", "--ledger", "ledger.sqlite", folder=folder))
    assert " ok  arithmetic" in text
    table = (folder / "release" / "table-flights.csv").read_text("utf-8")
    assert table.count("\n") == 1
    delays = pl.read_csv(folder / "release" / "table-delays.csv")
    assert delays["dest"].to_list() == ["others", "others"]


@pytest.mark.parametrize("mechanism", ["gaussian"])
def test_keys_of_gaussian_noise_are_released(tmp_path: Path, mechanism: str) -> None:
    """Where the steps share a rho, a half of the delta is for the keys."""
    folder = project(tmp_path / "rho", mechanism=mechanism)
    run = dpql(*RUN, folder=folder)
    assert run.returncode == 0, run.stderr
    text = fine(dpql("verify", "release", "--ledger", "ledger.sqlite", folder=folder))
    assert "at δ = 1/1000000, of it 1/2000000 for keys" in text
    assert "5e-7 of it spent" in fine(dpql("ledger", "show", folder=folder))


def test_a_rehearsal_needs_no_data(released: Path) -> None:
    """Invented keys, some of them rare."""
    run = dpql("rehearse", "flights.yaml", folder=released)
    assert run.returncode == 0
    assert "keys that few units have are not shown" in run.stdout
    assert "key0" in run.stdout
