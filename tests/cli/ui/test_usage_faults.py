"""Wrong usage is refused with a code and a hint."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli.released import RUN, project
from cli.started import dpql

pytestmark = pytest.mark.cli


TWICE = ("--set", "epsilon=1", "--set", "epsilon=2")


APPROVE = ("approve", "wages.plan.json", "--key", "officer")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that nothing in this module spends on."""
    return project(tmp_path_factory.mktemp("wrong") / "project")


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (("check", "nowhere.yaml"), 1, "DPQL101"),
        (("check", "photo.png"), 1, "DPQL102"),
        (("plan", "binary.yaml"), 1, "DPQL10"),
        (("plan", "folder.yaml"), 1, "DPQL804"),
        (("plan", "nowhere.plan.json"), 1, "DPQL400"),
        (("plan", "edited.plan.json"), 1, "DPQL40"),
        (("frobnicate",), 2, "DPQL810"),
        (("plan",), 2, "DPQL812"),
        (("plan", "wages.yaml", "--colour"), 2, "DPQL811"),
        (("plan", "wages.yaml", "--out", "no/such/folder/p.json"), 1, "DPQL801"),
        (("run", "wages.plan.json", "--key", "steward"), 2, "--data"),
        ((*RUN[:2], "--data", "wages", *RUN[4:]), 2, "NAME=URI"),
        ((*RUN[:2], "--data", "incomes=wages.csv", *RUN[4:]), 2, "wages"),
        ((*RUN[:4], "--key", "stranger", "--yes"), 4, "DPQL620"),
        ((*RUN, "--yes", "--ledger", "none.sqlite"), 3, "DPQL700"),
        ((*RUN, "--yes", "--dataset", "incomes"), 3, "DPQL701"),
        (RUN, 2, "--yes"),
        (("verify", "nowhere"), 4, "there is no release at `nowhere`"),
        (("verify", "nowhere", "--trust", "none"), 4, "DPQL630"),
        (("verify", "keys"), 4, "release.dsse.json is missing"),
        (("verify", "wages.csv", "--trust", "none"), 4, "no trust file `none`"),
        (("verify", "wages.plan.json"), 4, "DPQL6"),
        (("keys", "show", "stranger"), 4, "DPQL620"),
        (("ledger", "open", "other", "--epsilon", "-1"), 2, "above 0"),
        (("ledger", "open", "other", "--epsilon", "4"), 2, "`--unit` is missing"),
        (("ledger", "raise-cap", "wages", "--epsilon", "1"), 3, "DPQL710"),
        (("approve", "wages.csv", "--key", "officer"), 1, "DPQL102"),
        (("completion", "tcsh"), 2, "SHELL"),
        ((), 2, "dpql demo                  the whole story"),
        (("ledger",), 2, "dpql ledger open wages"),
        (("ledger", "opne"), 2, "did you mean `open`?"),
        (("plna", "wages.yaml"), 2, "did you mean `plan`?"),
        (("plan", "wages.yaml", "--ou", "x"), 2, "did you mean `--out`?"),
        (("plan", "wages.yaml", "--format", "jsn"), 2, "did you mean `json`?"),
        (("plan", "wages.yaml", "--out"), 2, "`--out` needs a value"),
        (("plan", "wages.yaml", "--check=yes"), 2, "`--check` takes no value"),
        (("schema", "spec", "plan"), 2, "`plan` is too much"),
        (("keys", "trust", "steward", "s"), 2, "--role release|plan|both"),
        ((*APPROVE, "--runs", "0"), 2, "from 1 to 1000000"),
        ((*APPROVE, "--runs=many"), 2, "`many` does not fit `--runs`"),
        ((*APPROVE, "--until", "2027-02-30"), 2, "such as 2027-06-01"),
        (("run", "wages.plan.json", "--data", "wages=wages.csv"), 2, "`--key`"),
        ((*APPROVE[:3], "steward.pub"), 4, "the public half"),
        ((*RUN[:4], "--key", "keys/steward.pub"), 4, "private half: `steward`"),
        (("plan", "wages.yaml", *TWICE), 2, "each of epsilon, alpha, mechanism once"),
        (("init", "wages.csv"), 1, "name a folder"),
        (("init", "wages.csv/below"), 1, "name a folder"),
        (("plan", "huge.yaml"), 1, "DPQL107"),
        (("check", "empty.yaml"), 1, "DPQL1"),
        (("fmt", "wages.csv"), 1, "DPQL102"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_wrong_use_is_refused(
    made: Path, arguments: tuple[str, ...], status: int, word: str
) -> None:
    """Each mistake has its word, a code or the help, and its exit code."""
    (made / "huge.yaml").write_bytes(b"#" * (2 << 20))
    (made / "empty.yaml").write_bytes(b"")
    (made / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    (made / "binary.yaml").write_bytes(bytes(range(256)))
    (made / "folder.yaml").mkdir(exist_ok=True)
    plan = (made / "wages.plan.json").read_bytes()
    (made / "edited.plan.json").write_bytes(plan.replace(b'"1/2"', b'"1/3"', 1) + b" ")
    run = dpql(*arguments, folder=made)
    assert run.returncode == status, run.stderr
    assert word in run.stderr + run.stdout
    assert "Traceback" not in run.stderr
    assert re.search(r"DPQL\d{3} |^Usage: ", run.stderr + run.stdout, re.MULTILINE)
    for foreign in ("Error:", "Invalid value", "No such", "Missing ", "Try '"):
        assert foreign not in run.stderr
