"""The guide runs as written, and names what the library offers."""

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

import dpql.testing

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "testing.md"
BLOCKS = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_example_of_the_guide_runs() -> None:
    """The blocks, run in order in one namespace, print what the guide shows."""
    text = GUIDE.read_text("utf-8")
    names: dict[str, Any] = {}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for block in BLOCKS.findall(text):
        example = parser.get_doctest(block, names, GUIDE.name, str(GUIDE), 0)
        result = runner.run(example, clear_globs=False)
        assert result.failed == 0
        assert result.attempted > 0
        names.update(example.globs)


@pytest.mark.parametrize("name", dpql.testing.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    """Each name has a docstring and a place in the docstring of the package."""
    assert getattr(dpql.testing, name).__doc__
    assert re.search(rf"\b{name}\b", dpql.testing.__doc__ or "")


def test_docstring_examples_run() -> None:
    """The examples inside the modules print what they show."""
    modules = {getattr(dpql.testing, name).__module__ for name in dpql.testing.__all__}
    attempted = 0
    for module in sorted(modules):
        result = doctest.testmod(__import__(module, fromlist=["__name__"]))
        assert result.failed == 0, module
        attempted += result.attempted
    assert attempted >= 12


def test_numpy_is_imported_late() -> None:
    """No module of the library imports numpy at its head."""
    for path in Path(dpql.testing.__file__).parent.glob("*.py"):
        head = re.findall(r"^(?:import|from) numpy", path.read_text(), re.MULTILINE)
        assert head == [], path.name
