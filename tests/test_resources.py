"""Files that travel with dpql are found in a checkout."""

from __future__ import annotations

import pytest

from dpql.resources import resource, schemas


def test_files_are_found_by_name() -> None:
    """The demo's spec is there; what is not is said so."""
    assert resource("specs/district_wages.yaml").is_file()
    with pytest.raises(FileNotFoundError):
        resource("specs/none.yaml")


def test_the_latest_schemas_are_found() -> None:
    """One of each kind of file that dpql writes."""
    found = schemas()
    assert {"dataset", "spec", "plan", "report"} == set(found)
    folder = found["report"].parent
    assert max(folder.glob("report.v*")) == found["report"]
