"""Wheel and sdist, installed where nothing else is, do what the README shows."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHIPPED = {
    ".py": 300,
    ".lark": 1,
    ".json": 4,
    ".yaml": 1,
    ".html": 2,
    ".js": 2,
    ".css": 2,
    ".pyi": 1,
    ".typed": 1,
}
"""The kinds of files in a wheel, and how many there are at least."""


def run(*command: str | Path, folder: Path) -> str:
    """Run a command that must succeed, and return what it printed."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    environment = tmp_path_factory.mktemp("build")
    run(sys.executable, "-m", "venv", environment, folder=folder)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "hatchling>=1.25", folder=folder)
    run(python, "-m", "hatchling", "build", "-d", folder, folder=ROOT)
    return folder


@pytest.mark.slow
def test_the_wheel_has_the_package_and_nothing_else(built: Path) -> None:
    """Code, grammar, pages, schemas; no test, no benchmark, no cache."""
    (wheel,) = built.glob("dpql-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert all(name.startswith("dpql/") for name in names)
    assert not [name for name in names if "__pycache__" in name]
    for ending, fewest in SHIPPED.items():
        assert len([name for name in names if name.endswith(ending)]) >= fewest
    assert {Path(name).suffix for name in names} <= set(SHIPPED)


@pytest.mark.slow
def test_the_sdist_can_be_tested(built: Path) -> None:
    """It has tests, specs and documents, so that others can build and check dpql."""
    (sdist,) = built.glob("dpql-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    top = {name.split("/")[1] for name in names if name.count("/")}
    assert {"dpql", "tests", "specs", "schemas", "docs", "pyproject.toml"} <= top
    assert not [name for name in names if ".venv" in name or "dpql-demo" in name]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_it_runs_where_nothing_else_is(built: Path, kind: str, tmp_path: Path) -> None:
    """From either package: the whole demo, its release verified, a new project."""
    (package,) = built.glob(f"dpql-{kind}")
    run(sys.executable, "-m", "venv", tmp_path / "venv", folder=tmp_path)
    bin_ = tmp_path / "venv" / "bin"
    constraints = ROOT / "constraints.txt"
    options = ("--quiet", "--constraint", constraints)
    run(bin_ / "python", "-m", "pip", "install", *options, package, folder=tmp_path)
    run(bin_ / "dpql", "demo", folder=tmp_path)
    demo = tmp_path / "dpql-demo"
    (release,) = (demo / "releases").iterdir()
    trust = ("--trust", demo / "allowed_signers")
    verified = run(bin_ / "dpql", "verify", release, *trust, folder=tmp_path)
    assert " ok  arithmetic " in verified
    run(bin_ / "dpql", "init", "new", "--no-passphrase", folder=tmp_path)
    run(bin_ / "dpql", "check", "specs", folder=tmp_path / "new")
    page = tmp_path / "page.html"
    spec = tmp_path / "new" / "specs" / "first.yaml"
    run(bin_ / "dpql", "plan", spec, "--html", page, folder=tmp_path)
    run(bin_ / "dpql", "verify", "--page", tmp_path / "v.html", folder=tmp_path)
    for name in ("spec", "plan", "report"):
        assert run(bin_ / "dpql", "schema", name, folder=tmp_path).startswith("{")
    text = tmp_path / "first.dpql"
    text.write_text(run(bin_ / "dpql", "fmt", "--to", "dpql", spec, folder=tmp_path))
    run(bin_ / "dpql", "check", text, folder=tmp_path)
