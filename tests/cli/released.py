"""A small project with a budget, keys, a plan and its approval, as a demo makes it."""

from __future__ import annotations

from pathlib import Path

from cli.started import WAGES, dpql, fine

from dpql.cli.sample import wages

RUN = ("run", "wages.plan.json", "--data", "wages=wages.csv", "--key", "steward")


def project(folder: Path, *, cap: str = "2", people: int = 300) -> Path:
    """Make everything up to the run in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wages.yaml").write_bytes(WAGES.read_bytes())
    (folder / "wages.csv").write_text(wages(people), "utf-8")
    assert dpql("plan", "wages.yaml", "--out", "wages.plan.json", folder=folder)
    for name, who, role in (
        ("steward", "bulletin-2025@example.org", "release"),
        ("officer", "officer@example.org", "plan"),
    ):
        fine(dpql("keys", "new", name, "--no-passphrase", folder=folder))
        fine(dpql("keys", "trust", name, who, "--role", role, folder=folder))
    opening = ("ledger", "open", "wages", "--epsilon", cap, "--unit", "person_id")
    fine(dpql(*opening, "--approvals", "1", folder=folder))
    fine(
        dpql(
            "approve",
            "wages.plan.json",
            "--key",
            "officer",
            "--runs",
            "9",
            folder=folder,
        )
    )
    return folder


def release_in(folder: Path) -> Path:
    """Return the first release folder of a project."""
    return min((folder / "releases").iterdir())
