"""`dpql export`: drafts for the registry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.released import release_in
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_release_is_exported_for_the_registry(released: Path) -> None:
    """The draft names the curator and the budget."""
    name = release_in(released)
    arguments = ("export", "registry", name, "--curator", "Office", "--region", "here")
    run = dpql(*arguments, folder=released)
    assert run.returncode == 0
    record = json.loads(run.stdout)["deployment"]
    assert record["basic"]["data_product_region"] == "here"
    assert record["privacy_loss"]["privacy_parameters"] == {"epsilon": 1}


def test_registry_draft_takes_the_registrys_words_only(owner: Path) -> None:
    """Words that the form does not know are refused as wrong usage."""
    export = ("export", "registry", release_in(owner), "--curator", "Office")
    run = dpql(
        *export, "--curator-type", "Nonprofit", "--sector", "Energy", folder=owner
    )
    record = json.loads(run.stdout)["deployment"]
    assert record["basic"]["data_product_sector"] == "Energy"
    refused(dpql(*export, "--sector", "Astrology", folder=owner), 2)
    fine(dpql("ledger", "verify", "--against", release_in(owner), folder=owner))
