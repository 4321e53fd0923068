"""A trust file is understood wholly or refused; roles and days are kept."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports.sample_releases import STEWARD, TRUST, trust_text

from dpql.errors import VerifyFault
from dpql.reports.trust import load_trust, parse_trust, trust_line

KEY = STEWARD.public.line
RSA = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ=="


def test_lines_are_read_as_written(tmp_path: Path) -> None:
    """Principal, roles and days come back; comments and blank lines are passed over."""
    path = tmp_path / "allowed_signers"
    path.write_text(f"\n# note\n{trust_text()}\n", "utf-8")
    assert load_trust(path) == TRUST
    steward, officer, _ = TRUST.keys
    assert steward.namespaces == {"dpql-release"}
    assert (officer.first, officer.until) == (date(2026, 1, 1), date(2027, 6, 1))


def test_days_are_kept_to_the_day() -> None:
    """Valid from the first day on, and not any more on the last."""
    officer = TRUST.keys[1]
    assert not officer.valid(date(2025, 12, 31))
    assert officer.valid(date(2026, 1, 1))
    assert officer.valid(date(2027, 5, 31))
    assert not officer.valid(date(2027, 6, 1))


@pytest.mark.parametrize(
    ("after", "first"),
    [
        ("20260101", date(2026, 1, 1)),
        ("20260101Z", date(2026, 1, 1)),
        ("202601010000", date(2026, 1, 1)),
        ("202601010001", date(2026, 1, 2)),
        ("20260101235959Z", date(2026, 1, 2)),
    ],
)
def test_time_within_a_day_leaves_that_day_out(after: str, first: date) -> None:
    """A key must be valid all day."""
    (key,) = parse_trust(f'a namespaces="x",valid-after="{after}" {KEY}').keys
    assert key.first == first


def test_key_without_namespaces_has_no_role() -> None:
    """A role is given, never assumed."""
    (key,) = parse_trust(f"a@b {KEY} a comment").keys
    assert key.namespaces == frozenset()


def test_keys_of_other_algorithms_are_passed_over() -> None:
    """A file shared with other tools may hold keys that are useless here."""
    assert parse_trust(f"a@b {RSA}\n").keys == ()


@pytest.mark.parametrize(
    "line",
    [
        "a@b",
        f"* {KEY}",
        f"!a {KEY}",
        f"a,*.b {KEY}",
        f"a cert-authority {KEY}",
        f'a namespaces="x",namespaces="y" {KEY}',
        f'a namespaces="x", {KEY}',
        f"a namespaces=x {KEY}",
        f'a namespaces="x",surprise="y" {KEY}',
        f'a valid-before="2026" {KEY}',
        f'a valid-before="20261301" {KEY}',
        f'a valid-after="soon" {KEY}',
        f'a namespaces="x" valid-after="20260101" {KEY}',
        f"a {KEY[:-4]}",
        f"a {KEY}=",
        "a ssh-ed25519 AAAA",
        "a ssh-ed25519",
        "\x1b[2J " + KEY,
        f"é {KEY}",
    ],
)
def test_lines_that_need_guessing_are_refused(line: str) -> None:
    """One doubtful line refuses the file, and the message quotes nothing of it."""
    with pytest.raises(VerifyFault) as refusal:
        parse_trust(f"# first\n{line}\n")
    (fault,) = refusal.value.diagnostics
    assert fault.code == "DPQL624"
    assert "line 2" in fault.message


@pytest.mark.parametrize("name", ["a b", "a,b", "*", "", 'a"', "#a"])
def test_names_that_a_file_cannot_hold_are_not_written(name: str) -> None:
    """A line is only written if it is read back as meant."""
    with pytest.raises(VerifyFault) as refusal:
        trust_line(STEWARD.public, name, ("dpql-release",))
    assert refusal.value.diagnostics[0].code == "DPQL624"


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    """Missing, a folder, not text: one code."""
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name in ("missing", "bytes", "."):
        with pytest.raises(VerifyFault) as refusal:
            load_trust(tmp_path / name)
        assert refusal.value.diagnostics[0].code == "DPQL624"


@pytest.mark.property
@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(KEY.split()), max_size=6).map(" ".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises anything but our refusal."""
    try:
        parse_trust(text)
    except VerifyFault as refusal:
        assert refusal.diagnostics[0].code == "DPQL624"  # noqa: PT017  either is fine
