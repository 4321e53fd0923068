"""The hooks and the workflow that `init` writes name real commands."""

from __future__ import annotations

import re

import pytest
import yaml
from cli.started import ROOT, SPECS, dpql, fine

from dpql.cli.commands.init.templates import PRE_COMMIT, WORKFLOW

pytestmark = pytest.mark.cli


HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


LOCAL = yaml.safe_load(PRE_COMMIT)["repos"][0]["hooks"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_hooks_accept_the_gallery(hook: dict[str, str]) -> None:
    """Each hook runs on the files that it asks for."""
    chosen = [
        str(path.relative_to(ROOT))
        for path in sorted(SPECS.iterdir())
        if re.search(hook["files"], str(path.relative_to(ROOT)))
    ]
    suffixes = ["yaml", "dpql", *(["plan.json"] if hook["id"] == "dpql-plan" else [])]
    assert len(chosen) == sum(len([*SPECS.glob(f"*.{end}")]) for end in suffixes)
    fine(dpql(*hook["entry"].split()[1:], *chosen[:3]))


def test_local_hooks_are_the_published_ones() -> None:
    """What `init` writes and what the repository offers do the same."""
    assert [(h["id"], h["entry"]) for h in HOOKS] == [
        (h["id"], h["entry"]) for h in LOCAL
    ]


def test_the_workflow_runs_commands_that_exist() -> None:
    """Every dpql command of the workflow answers --help."""
    workflow = yaml.safe_load(WORKFLOW)
    text = "\n".join(
        step.get("run", "") for step in workflow["jobs"]["review"]["steps"]
    )
    names = set(re.findall(r"^\s*dpql (\w+)", text, re.MULTILINE))
    assert {"check", "fmt", "plan", "diff"} == names
    for name in names:
        fine(dpql(name, "--help"))
