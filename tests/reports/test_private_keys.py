"""What readers of a release see of keys that were found, and what they do not."""

from __future__ import annotations

import csv
import io
import json
from base64 import b64decode
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from private_specs import FREQUENT, RARE, frame, private_plan
from reports.sample_releases import DAY, STEWARD, VERSIONS, record
from reports.test_registry import FORM
from reports.test_shown_keys import made

from dpql.curator.run import run
from dpql.model.release import Release, Result
from dpql.reports.dictionary import dictionary
from dpql.reports.display import unverified_view
from dpql.reports.registry import registry_record
from dpql.reports.report import Report, sign
from dpql.reports.sentences import before_noise, post_processing

LONG = "É" * 100
HOSTILE = "=1+1|<b>`x`</b>\u00a0*"


def signed(release: Release) -> Report:
    """Return the signed report on a release."""
    return sign(
        release, [STEWARD], day=DAY, ledger=record(release.plan), versions=VERSIONS
    )


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_tables_have_keys_without_numbers() -> None:
    """Of a list the cells of numbers are empty, in csv and in frames."""
    release = made(listed=True, others=True)
    rows = _rows(release["found"].to_csv())
    assert [row.pop("dest") for row in rows] == [*FREQUENT]
    assert {text for row in rows for text in row.values()} == {""}
    frames = release.to_polars()
    assert frames.filter(frames["statistic"] == "found")["value"].null_count() == 3
    flights = _rows(release["flights"].to_csv())
    assert [row["dest"] for row in flights] == [*FREQUENT, "others"]
    assert all(row["value"] and row["accuracy"] for row in flights)
    whole = _rows(release.to_csv())
    assert len(whole) == sum(len(result.values) for result in release.results)


def test_tables_without_any_key_have_their_columns() -> None:
    """No key is shown: the tables are empty, and are there all the same."""
    release = made(planes=1, shown_from=50)
    report = signed(release)
    files = dict(report.files)
    assert files["table-flights.csv"].startswith(b"dest,value,noisy,")
    assert files["table-flights.csv"].count(b"\n") == 1
    assert release["flights"].to_polars().shape == (0, 9)
    assert "no key is shown: keys that few units have are not shown" in str(release)
    assert "no key is shown" in report.to_text()
    assert "no key is shown" in report.to_markdown()
    page = report.to_html()
    assert "No key is shown: keys that few units have are not shown</bdi>." in page


@pytest.mark.parametrize("mechanism", ["geometric", "gaussian"])
def test_every_form_shows_keys_and_says_what_is_missing(mechanism: str) -> None:
    """Terminal, Markdown and page; no rare key is in any of them."""
    release = made(listed=True, others=True, mechanism=mechanism)
    report = signed(release)
    search = release.plan.step("found").search
    assert search is not None
    for text in (report.to_text(), report.to_markdown(), report.to_html()):
        assert "eys that few units have are not shown" in text
        assert all(key in text for key in (*FREQUENT, "others"))
        assert RARE not in text
        assert f"from {search.usual} units on in 95%" in text
        assert "more often too high than too low" in text
    assert RARE.encode() not in report.envelope
    assert all(RARE.encode() not in data for _, data in report.files)
    text = report.to_text()
    listed = text[text.index("found: ") : text.index("flights: ")]
    assert "value" not in listed
    assert "±" not in listed


def test_a_short_text_of_a_result_says_it_too() -> None:
    """At a prompt and in a notebook."""
    release = made(listed=True)
    search = release.plan.step("found").search
    assert search is not None
    text = str(release["found"])
    head, *_ = text.splitlines()
    assert head == f"found, keys of {search.usual} units or more with 95%"
    assert "value" not in text
    assert "keys that few units have are not shown" in text
    assert "<th>dest</th>" in release["found"]._repr_html_()
    assert "value" not in release["found"]._repr_html_()


def test_the_page_says_how_keys_were_found() -> None:
    """With its delta and its parameters, and no error that it does not have."""
    page = signed(made(listed=True)).to_html()
    for mechanism in ("selection", "truncated_geometric"):
        assert f"<bdi>{mechanism}</bdi>, ε = 4/5, δ = 1/2000000</p>" in page
    assert "<bdi>certain</bdi></th>" in page


def test_hostile_keys_change_no_form() -> None:
    """Keys of the data are shown as they are: no formula, no markup, nothing cut."""
    release = made()
    step = release.plan.step("flights")
    cells = [(HOSTILE,), ("JFK",), (LONG,)]
    values = [
        replace(value, cell=cell)
        for value, cell in zip(release["flights"].values, cells, strict=True)
    ]
    results = tuple(
        Result(step=step, values=tuple(values)) if one.name == "flights" else one
        for one in release.results
    )
    report = signed(replace(release, results=results))
    page = report.to_html()
    assert "<b>`x`" not in page
    assert "&lt;b&gt;" in page
    assert LONG in page
    rows = _rows(dict(report.files)["table-flights.csv"].decode())
    assert rows[0]["dest"] == f"'{HOSTILE}"
    assert LONG in report.to_text()
    assert "\n| =1" not in report.to_markdown()


def test_the_dictionary_says_where_keys_come_from() -> None:
    """Of each statistic: what shows its keys, how many rows, what is left out."""
    plan = private_plan(listed=True, others=True, shown_from=10)
    text = dictionary(plan).replace("\\", "")
    assert "- key dest: found in the data, in the order of their texts" in text
    assert "- key dest: those that found shows, and others for all else" in text
    assert "- key carrier: 2 keys: UA, AA" in text
    assert "table-delays.csv, 2 rows for each key" in text
    assert "table-flights.csv, 1 row for each key" in text
    assert "table-planes.csv, 1 rows" in text
    assert "- numbers: none; its keys are all that is released" in text
    assert "with fewer than 10 units is never shown" in text
    assert "each key is shown with a count more than" in text
    # It follows from the plan alone.
    assert RARE not in text


def test_sentences_of_a_plan() -> None:
    """What noise is added to, and what becomes of it."""
    plan = private_plan(others=True, shown_from=10)
    flights, delays = plan.step("flights"), plan.step("delays")
    assert "a key with fewer than 10 units is never shown" in before_noise(
        plan, flights
    )
    assert "no more than" in before_noise(plan, flights)
    assert "keys that flights shows, and others for all else" in before_noise(
        plan, delays
    )
    assert "declared keys only" in before_noise(plan, delays)
    rule = post_processing(flights)
    assert rule.startswith("counts below ")
    assert "nor are their keys" in rule
    listed = private_plan(listed=True).step("found")
    assert post_processing(listed) == "none; keys in their order, no number with them"


def test_a_registry_record_has_the_searches() -> None:
    """Their mechanism, their delta, and which keys are shown."""
    release = made(listed=True)
    report = signed(release)
    view = unverified_view(report.envelope, report.digest)
    found = registry_record(view.predicate, report.digest, curator="Office")
    jsonschema.Draft202012Validator(FORM).validate(found)
    deployment: Any = found["deployment"]
    mechanisms = deployment["implementation"]["mechanisms"]
    assert "found, keys: selection at epsilon 4/5, delta 1/2000000" in mechanisms
    description = deployment["basic"]["description"]
    assert "The keys of found are found in the data: a key" in description
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"
    assert "declared" in deployment["dp_variant"]["unprotected_quantities"]
    assert "keys of dest" not in deployment["dp_variant"]["unprotected_quantities"]


def test_old_reports_have_no_delta_of_parts() -> None:
    """The member is left out where it says nothing, so old signatures hold."""
    payload = json.loads(b64decode(json.loads(signed(made()).envelope)["payload"]))
    parts = {one["name"]: one["parts"][0] for one in payload["predicate"]["statistics"]}
    assert parts["flights"]["delta"] == "1/2000000"
    assert "delta" not in parts["planes"]


@pytest.mark.parametrize("hidden", [0, 1, 2_000])
def test_hidden_keys_leave_no_trace(hidden: int) -> None:
    """Whatever is written says nothing of how many keys were not shown.

    Keys of fewer than five planes are never shown, however many there are: the files
    have as many lines, and the words are the same.
    """
    rows = frame()
    for number in range(hidden):
        for name, cell in (
            ("dest", f"X{number}"),
            ("origin", f"Y{number}"),
            ("carrier", None),
            ("delay", None),
            ("plane", f"Q{number}"),
        ):
            rows[name].append(cell)
    plan = private_plan(listed=True, shown_from=5)
    # Only pairs of columns may be shown by chance, one in two million times.
    release = run(plan, {"rows": rows})
    assert isinstance(release, Release)
    text = signed(release).to_text()
    lines = [line for line in text.splitlines() if not line.startswith("   ")]
    assert (
        lines[2:]
        == [
            line
            for line in signed(made(listed=True)).to_text().splitlines()
            if not line.startswith("   ")
        ][2:]
    )
    assert [(key,) for key in FREQUENT] == [x.cell for x in release["found"].values]
    assert [("EWR", key) for key in FREQUENT] == [
        value.cell for value in release["routes"].values
    ]
