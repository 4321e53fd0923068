"""No byte, field or signature of a report can be changed unnoticed."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import pytest
from reports.sample_releases import (
    DATASET,
    DAY,
    EXPIRED,
    OFFICER,
    STEWARD,
    STRANGER,
    TRUST,
    Case,
    broad_plan,
    check,
    make_case,
    make_payload,
    rehearsal_payload,
    small_plan,
)

from dpql.curator.engines import ENGINES
from dpql.errors import VerifyFault
from dpql.model.codec import canonical
from dpql.model.plan import Plan
from dpql.reports import envelope as envelopes
from dpql.reports.approval import approve, verify_approvals
from dpql.reports.display import unverified_view
from dpql.reports.envelope import peek, seal
from dpql.reports.file_names import TABLES
from dpql.reports.predicate import ENGINES as KNOWN_ENGINES
from dpql.reports.trust import parse_trust, trust_line

pytestmark = pytest.mark.heavy


def refused(attempt: Callable[[], object]) -> str | None:
    """Return the code of the refusal; None when there was none."""
    try:
        attempt()
    except VerifyFault as refusal:
        return refusal.diagnostics[0].code
    return None


def flips(data: bytes) -> Iterator[bytes]:
    """Yield the data with each single bit flipped."""
    for position in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[position] ^= 1 << bit
            yield bytes(changed)


def leaves(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every text and null in a document."""
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    if not isinstance(node, dict | list):
        yield path
    for name, item in items:
        yield from leaves(item, (*path, name))


def edited(document: Any, path: tuple[Any, ...]) -> Any:
    """Return the document with another value at a path."""
    changed = copy.deepcopy(document)
    node = changed
    for name in path[:-1]:
        node = node[name]
    old = node[path[-1]]
    if old is None:
        node[path[-1]] = "1"
    elif isinstance(old, bool):
        node[path[-1]] = not old
    elif old.lstrip("-").replace("/", "", 1).isdigit():
        top, slash, bottom = old.partition("/")
        node[path[-1]] = f"{int(top) + 1}{slash}{bottom}"
    else:
        node[path[-1]] = f"{old}x"
    return changed


def _refusals(changes: Iterator[bytes]) -> dict[str | None, int]:
    codes: dict[str | None, int] = {}
    for changed in changes:
        code = refused(lambda changed=changed: check(changed))
        codes[code] = codes.get(code, 0) + 1
    return codes


def test_every_flipped_byte_of_the_envelope_is_refused() -> None:
    """Exhaustive over the bytes of a small report, one bit of each."""
    envelope = make_case().envelope
    codes = _refusals(
        changed
        for number, changed in enumerate(flips(envelope))
        if number % 8 == number // 8 % 8
    )
    assert set(codes) <= {f"DPQL60{digit}" for digit in range(10)}
    assert sum(codes.values()) == len(envelope)


def test_every_flipped_bit_around_the_payload_is_refused() -> None:
    """Exhaustive over all eight bits of signature, key id, type and punctuation."""
    envelope = make_case().envelope
    payload = json.loads(envelope)["payload"].encode()
    start = envelope.index(payload)
    inside = range(start + 8, start + len(payload) - 8)
    positions = [
        position for position in range(len(envelope)) if position not in inside
    ]
    assert len(positions) > 250
    codes = _refusals(
        envelope[:position]
        + bytes([envelope[position] ^ 1 << bit])
        + envelope[position + 1 :]
        for position in positions
        for bit in range(8)
    )
    assert set(codes) <= {f"DPQL60{digit}" for digit in range(10)}
    assert sum(codes.values()) == 8 * len(positions)


@pytest.mark.slow
def test_every_flipped_bit_of_the_payload_leaves_its_signature() -> None:
    """Exhaustive over all eight bits of every byte that was signed."""
    case = make_case()
    document = json.loads(case.envelope)
    signature = base64.b64decode(document["signatures"][0]["sig"])
    payload = peek(case.envelope)
    assert STEWARD.public.accepts(signature, envelopes._message(payload))
    accepted = sum(
        STEWARD.public.accepts(signature, envelopes._message(changed))
        for changed in flips(payload)
    )
    assert accepted == 0


@pytest.mark.slow
def test_every_flipped_bit_of_the_envelope_is_refused() -> None:
    """Exhaustive over the bits of a small report, all eight of each byte."""
    envelope = make_case().envelope
    codes = _refusals(flips(envelope))
    assert set(codes) <= {f"DPQL60{digit}" for digit in range(10)}
    assert sum(codes.values()) == 8 * len(envelope)


def test_every_flipped_bit_of_an_approval_is_refused() -> None:
    """Exhaustive: each bit of each byte of a reviewer's signature."""
    plan = small_plan()
    envelope = approve(plan, OFFICER)
    for changed in flips(envelope):
        assert refused(
            lambda changed=changed: verify_approvals(
                [changed], plan, TRUST, day=DAY, dataset=None
            )
        )


def test_every_flipped_bit_of_a_table_is_refused() -> None:
    """Exhaustive: the csv and the parquet beside the report."""
    case = make_case()
    for name, data in case.files.items():
        for changed in flips(data):
            files = {**case.files, name: changed}
            assert refused(lambda files=files: case.verify(files=files)) == "DPQL610"
        without = {other: text for other, text in case.files.items() if other != name}
        assert refused(lambda files=without: case.verify(files=files)) == "DPQL610"


def test_every_edited_field_is_refused_without_a_new_signature() -> None:
    """A field changed in the payload leaves the signature behind."""
    for plan, every in ((small_plan(), 1), (broad_plan(), 7)):
        case = make_case(plan)
        document = json.loads(case.envelope)
        statement = json.loads(peek(case.envelope))
        paths = list(leaves(statement))
        assert len(paths) > 100
        for path in paths[::every]:
            payload = canonical(edited(statement, path))
            changed = {**document, "payload": base64.b64encode(payload).decode()}
            assert refused(lambda c=changed: check(canonical(c))) == "DPQL601"


def test_every_edited_field_of_the_plan_is_refused_though_signed() -> None:
    """A signer who alters a plan, everywhere in turn, is found out by derivation."""
    statement = json.loads(make_payload(small_plan()))
    paths = list(leaves(statement["predicate"]["plan"]))
    assert len(paths) > 60
    for path in paths:
        changed = edited(statement, ("predicate", "plan", *path))
        envelope = seal(canonical(changed), [STEWARD])
        code = refused(lambda e=envelope: check(e))
        assert code in {"DPQL606", "DPQL607", "DPQL608", "DPQL613"}, path


def test_every_edited_field_of_the_plan_is_refused_though_its_digest_fits() -> None:
    """A signer who also states the digest of the altered plan is found out."""
    statement = json.loads(make_payload(small_plan()))
    codes = set()
    for path in leaves(statement["predicate"]["plan"]):
        changed = edited(statement, ("predicate", "plan", *path))
        predicate = changed["predicate"]
        digest = sha256(canonical(predicate["plan"])).hexdigest()
        predicate["plan_digest"] = digest
        envelope = seal(canonical(changed), [STEWARD])
        code = refused(lambda e=envelope: check(e))
        assert code is not None, path
        codes.add(code)
    assert codes == {"DPQL606", "DPQL607", "DPQL608", "DPQL613"}


def test_every_derived_claim_is_refused_though_signed() -> None:
    """A signer who alters a claim that follows from the plan is found out."""
    statement = json.loads(make_payload(broad_plan()))
    free = {"date", "approvals", "implementation", "ledger", "plan"}
    paths = [
        path
        for path in leaves(statement["predicate"])
        if path[0] not in free and "noisy" not in path
    ]
    assert len(paths) > 150
    for path in paths:
        changed = edited(statement, ("predicate", *path))
        envelope = seal(canonical(changed), [STEWARD])
        code = refused(lambda e=envelope: check(e))
        assert code in {"DPQL606", "DPQL608"}, path


def test_noise_off_the_lattice_or_beyond_the_clamp_is_refused() -> None:
    """Noisy numbers that the mechanism cannot make are refused though signed."""
    statement = json.loads(make_payload(broad_plan()))
    statistics = statement["predicate"]["statistics"]
    for position, name in enumerate(("headcount", "wage_sum", "wage_mean")):
        assert statistics[position]["name"] == name
        for wrong in ("1/3", f"{10**30}/7"):
            changed = copy.deepcopy(statement)
            changed["predicate"]["statistics"][position]["values"][0]["noisy"][0] = (
                wrong
            )
            envelope = seal(canonical(changed), [STEWARD])
            assert refused(lambda e=envelope: check(e)) == "DPQL609"


@pytest.mark.parametrize("wrong", ["-1", "1/2", "10000000"])
def test_an_index_that_no_candidate_has_is_refused(wrong: str) -> None:
    """The noisy number of a quantile is the index of one of its candidates."""
    statement, position = _ranks()
    values = statement["predicate"]["statistics"][position]["values"]
    values[0]["noisy"][0] = wrong
    envelope = seal(canonical(statement), [STEWARD])
    assert refused(lambda: check(envelope)) == "DPQL609"


def test_quantiles_that_fall_within_a_group_are_refused() -> None:
    """The quantiles of a group are released in rising order; groups are apart."""
    statement, position = _ranks()
    values = statement["predicate"]["statistics"][position]["values"]
    for first, second, code in ((0, 1, "DPQL609"), (1, 2, "DPQL609")):
        changed = copy.deepcopy(values)
        for name in ("noisy", "value", "lower", "upper"):
            changed[first][name], changed[second][name] = (
                values[second][name],
                values[first][name],
            )
        statement["predicate"]["statistics"][position]["values"] = changed
        envelope = seal(canonical(statement), [STEWARD])
        assert refused(lambda e=envelope: check(e)) == code


def _ranks() -> tuple[Any, int]:
    statement = json.loads(make_payload(broad_plan()))
    names = [each["name"] for each in statement["predicate"]["statistics"]]
    return statement, names.index("wage_ranks")


def test_values_that_do_not_follow_from_noise_are_refused() -> None:
    """Another noisy number on the lattice asks for another value."""
    statement = json.loads(make_payload(small_plan()))
    value = statement["predicate"]["statistics"][0]["values"][0]
    value["noisy"][0] = str(int(value["noisy"][0]) + 1)
    envelope = seal(canonical(statement), [STEWARD])
    assert refused(lambda: check(envelope)) == "DPQL608"


def test_subjects_are_exactly_the_tables_and_the_page() -> None:
    """Missing, extra, double, renamed, swapped or other subjects: none is believed."""
    statement = json.loads(make_payload(small_plan()))
    words, csv, parquet, page, table = statement["subject"]
    names = [one["name"] for one in statement["subject"]]
    assert names == ["dictionary.md", *TABLES, "report.html", "table-total.csv"]
    three = (
        [],
        [csv],
        [parquet],
        [page],
        [csv, parquet],
        [csv, page],
        [parquet, csv, page],
        [csv, csv, page],
        [csv, parquet, parquet],
        [csv, page, parquet],
        [csv, parquet, page, page],
        [{**csv, "name": "Release.csv"}, parquet, page],
        [{**csv, "name": "./release.csv"}, parquet, page],
        [csv, parquet, {**page, "name": "report.htm"}],
        [csv, {**parquet, "name": "release.parquet\0"}, page],
        [{**csv, "uri": "https://example.org"}, parquet, page],
        [{**csv, "digest": {**csv["digest"], "sha1": "0" * 40}}, parquet, page],
        [{**csv, "digest": {"sha256": csv["digest"]["sha256"].upper()}}, parquet, page],
        [{**csv, "digest": {"sha256": "0" * 63}}, parquet, page],
    )
    full = [[words, *some, table] for some in three]
    full += [[words, csv, parquet, page], [csv, parquet, page, table]]
    full += [[words, csv, parquet, page, table, table], [*statement["subject"], page]]
    full += [[words, csv, parquet, page, {**table, "name": "table-Total.csv"}]]
    for subjects in (*three, *full, {"release.csv": csv}, None):
        changed = canonical({**statement, "subject": subjects})
        for payload in (changed, changed.replace(b":release:", b":rehearsal:")):
            envelope = seal(payload, [STEWARD])
            assert refused(lambda e=envelope: check(e, files=None))
        envelope = seal(changed, [STEWARD])
        assert refused(lambda e=envelope: check(e)) == "DPQL606", subjects
        assert refused(lambda e=envelope: unverified_view(e, "")) == "DPQL606"
    approval = json.loads(peek(approve(small_plan(), OFFICER)))
    for subjects in ([], [*approval["subject"], csv], [csv]):
        envelope = seal(canonical({**approval, "subject": subjects}), [OFFICER])
        attempt = lambda e=envelope: verify_approvals(  # noqa: E731  one line
            [e], small_plan(), TRUST, day=DAY, dataset=None
        )
        assert refused(attempt) == "DPQL606"


def test_report_is_not_passed_off_as_one_of_another_format() -> None:
    """Format 2 without its page, relabelled or not, and unknown formats: refused."""
    statement = json.loads(make_payload(small_plan()))
    old = copy.deepcopy(statement)
    for number in ("0", "5", "04", "", "4/1", None):
        for subjects in (statement["subject"], statement["subject"][:2]):
            changed = {**statement, "subject": subjects}
            changed["predicate"] = {**statement["predicate"], "format": number}
            envelope = seal(canonical(changed), [STEWARD])
            assert refused(lambda e=envelope: check(e)) == "DPQL606"
    older = {**statement, "predicate": {**statement["predicate"], "format": "2"}}
    # It has members that no report of that format has.
    assert refused(lambda: check(seal(canonical(older), [STEWARD]))) == "DPQL606"
    old["predicate"]["format"] = "1"
    del old["predicate"]["caveats"]
    del old["predicate"]["ledger"]["data"]
    envelope = seal(canonical(old), [STEWARD])
    assert refused(lambda: check(envelope)) == "DPQL606"
    for few in (2, 3):
        shorter = {**old, "subject": old["subject"][1 : 1 + few]}
        envelope = seal(canonical(shorter), [STEWARD])
        assert refused(lambda e=envelope: check(e)) == "DPQL606"
    old["predicate"]["ledger"]["data"] = ""
    envelope = seal(canonical(old), [STEWARD])
    assert refused(lambda: check(envelope)) == "DPQL606"


def test_engines_are_those_of_the_curator() -> None:
    """No report names an engine that there is not; verifying imports none of them."""
    assert tuple(sorted(ENGINES)) == tuple(sorted(KNOWN_ENGINES))


@pytest.mark.parametrize("plan", [small_plan(), broad_plan()])
def test_signed_table_with_other_values_is_refused(plan: Plan) -> None:
    """A signer who signs another csv is found out, with and without the file."""
    case = make_case(plan)
    assert case.verify().digest
    text = case.files["release.csv"]
    statement = json.loads(peek(case.envelope))
    for other in (text.replace(b"total", b"all", 1), text + b"\n", text[:-1], b""):
        if other == text:
            continue
        statement["subject"][1]["digest"]["sha256"] = sha256(other).hexdigest()
        envelope = seal(canonical(statement), [STEWARD])
        files = {**case.files, "release.csv": other}
        for given in (files, None):
            attempt = lambda e=envelope, f=given: check(e, files=f)  # noqa: E731  one line
            assert refused(attempt) == "DPQL608"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("trust_model",), "local: nobody sees the data"),
        (("randomness",), "os.urandom "),
        (("engine",), "polars\u001b[31m"),
        (("engine",), ""),
        (("engine",), "abacus"),
        (("engine",), "Polars"),
        (("dpql",), "0.1.0 (audited by everybody)"),
        (("packages", "polars"), "x" * 101),
        (("packages", "<b>"), "1"),
    ],
)
def test_what_is_stated_of_the_run_is_held_to_its_form(
    path: tuple[str, ...], text: str
) -> None:
    """No signer claims another trust model or other coins, or writes a letter there."""
    statement = json.loads(make_payload(small_plan()))
    node = statement["predicate"]["implementation"]
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = text
    envelope = seal(canonical(statement), [STEWARD])
    assert refused(lambda: check(envelope)) == "DPQL608"


def test_signer_who_approved_the_plan_is_refused() -> None:
    """The verifier's own trust file says whose keys are whose."""
    plan = small_plan()
    both = ("dpql-plan", "dpql-release")
    own = trust_line(STEWARD.public, "tester@example.org", both)
    second = trust_line(OFFICER.public, "tester@example.org", ("dpql-plan",))
    other = trust_line(OFFICER.public, "officer@example.org", ("dpql-plan",))
    for lines, reviewers, code in (
        ([own], [STEWARD], "DPQL616"),
        ([own, second], [OFFICER], "DPQL616"),
        ([own, other], [OFFICER, STEWARD], "DPQL616"),
        ([own, other], [OFFICER], None),
    ):
        approvals = tuple(
            approve(plan, reviewer, dataset=DATASET) for reviewer in reviewers
        )
        envelope = seal(make_payload(plan, approvals=approvals), [STEWARD])
        trust = parse_trust("\n".join(lines))
        assert refused(lambda e=envelope, t=trust: check(e, t)) == code


@pytest.mark.parametrize(
    ("member", "text"),
    [
        ("after", "7/2"),
        ("before", "-1"),
        ("cap", "1/4"),
        ("seq", "2"),
        ("seq", "-6"),
        ("head", "ab" * 31),
        ("head", "AB" * 32),
        ("dataset", ""),
        ("dataset", "../wages"),
        ("data", ""),
        ("data", "private"),
    ],
)
def test_ledger_amounts_must_add_up(member: str, text: str) -> None:
    """A record whose amounts do not add up is refused without any ledger."""
    statement = json.loads(make_payload(small_plan()))
    statement["predicate"]["ledger"][member] = text
    envelope = seal(canonical(statement), [STEWARD])
    assert refused(lambda: check(envelope)) == "DPQL608"


def test_kinds_never_stand_for_one_another() -> None:
    """Each of release, rehearsal and approval is refused where another is asked."""
    plan = small_plan()
    rehearsal = seal(rehearsal_payload(plan), [STEWARD])
    assert refused(lambda: check(rehearsal)) == "DPQL605"
    approval = seal(peek(approve(plan, OFFICER)), [STEWARD])
    assert refused(lambda: check(approval)) == "DPQL605"
    for payload in (make_payload(plan), rehearsal_payload(plan)):
        envelope = seal(payload, [OFFICER])
        attempt = lambda e=envelope: verify_approvals(  # noqa: E731  one line
            [e], plan, TRUST, day=DAY, dataset=None
        )
        assert refused(attempt) == "DPQL605"


def test_renamed_kind_is_refused() -> None:
    """A rehearsal whose type is rewritten needs a new signature to pass."""
    plan = small_plan()
    document = json.loads(seal(rehearsal_payload(plan), [STEWARD]))
    payload = base64.b64decode(document["payload"]).replace(
        b":rehearsal:", b":release:"
    )
    document["payload"] = base64.b64encode(payload).decode()
    assert refused(lambda: check(canonical(document))) == "DPQL601"


def test_swapped_signatures_are_refused() -> None:
    """A signature belongs to its own report."""
    one, other = (json.loads(make_case(small_plan(p)).envelope) for p in ("1.", "2."))
    assert one["payload"] != other["payload"]
    one["signatures"], other["signatures"] = other["signatures"], one["signatures"]
    for document in (one, other):
        assert refused(lambda d=document: check(canonical(d))) == "DPQL601"


@pytest.mark.parametrize(
    ("key", "code"),
    [(STRANGER, "DPQL602"), (OFFICER, "DPQL603"), (EXPIRED, "DPQL604")],
)
def test_wrong_keys_are_refused(key: Any, code: str) -> None:
    """Unknown, in another role, or no longer valid on the release's day."""
    payload = make_payload(small_plan())
    assert refused(lambda: check(seal(payload, [key]))) == code


def test_another_key_id_is_refused() -> None:
    """The id names a trusted key, and the signature must be that key's."""
    document = json.loads(make_case().envelope)
    document["signatures"][0]["keyid"] = EXPIRED.public.fingerprint
    assert refused(lambda: check(canonical(document))) == "DPQL601"


def test_signature_twice_does_not_count_twice() -> None:
    """A threshold counts different keys, and an envelope lists each once."""
    case = make_case()
    assert refused(lambda: case.verify(threshold=2)) == "DPQL615"
    document = json.loads(case.envelope)
    document["signatures"] *= 2
    assert refused(lambda: check(canonical(document), threshold=2)) == "DPQL600"


def _respelled(case: Case) -> dict[str, bytes]:
    text = case.envelope.decode()
    document = json.loads(text)
    extra = {**document, "extra": "x"}
    loose = document["payload"].rstrip("=") + (
        "" if "=" in document["payload"] else "="
    )
    return {
        "compact": json.dumps(document).encode(),
        "trailing": case.envelope + b" ",
        "leading": b" " + case.envelope,
        "no newline": case.envelope[:-1],
        "mark": b"\xef\xbb\xbf" + case.envelope,
        "duplicate": text.replace(
            '"payload":', '"payload": "",\n  "payload":', 1
        ).encode(),
        "unknown": canonical(extra),
        "base64": canonical({**document, "payload": loose}),
        "type": canonical({**document, "payloadType": "application/json"}),
        "no signature": canonical({**document, "signatures": []}),
        "number": canonical({**document, "signatures": 1}),
        "deep": b"[" * 100_000,
        "empty": b"",
        "text": b"hello",
        "null": b"null\n",
        "list": b"[]\n",
        "not utf-8": b"\xff\xfe",
        "utf-16": text.encode("utf-16"),
    }


@pytest.mark.parametrize("name", _respelled(make_case()))
def test_other_spellings_are_refused(name: str) -> None:
    """An envelope has one spelling; nothing else is even looked into."""
    changed = _respelled(make_case())[name]
    assert refused(lambda: check(changed)) == "DPQL600"


@pytest.mark.parametrize(
    "respell",
    [
        lambda payload: payload + b"\n",
        lambda payload: json.dumps(json.loads(payload)).encode(),
        lambda payload: payload.replace(b'"date"', b'"date": "2026-01-01",\n "date"'),
        lambda payload: payload.replace(b'"format": "4"', b'"format": 2'),
        lambda payload: payload.replace(b'"format": "4"', b'"format": "02"'),
        lambda payload: payload.replace(b"2026-11-16", b"20261116"),
        lambda payload: payload.replace(b"2026-11-16", b"2026-11-31"),
        lambda payload: payload.replace(b"Statement/v1", b"Statement/v2"),
    ],
)
def test_other_spellings_of_the_payload_are_refused(
    respell: Callable[[bytes], bytes],
) -> None:
    """Signed or not, a payload that is not in its one form is refused."""
    payload = respell(make_payload(small_plan()))
    assert refused(lambda: check(seal(payload, [STEWARD]))) == "DPQL606"


def test_report_on_another_plan_is_refused() -> None:
    """The plan that was expected must be the plan inside."""
    case = make_case()
    assert case.verify(plan=case.plan).release.plan == case.plan
    assert refused(lambda: case.verify(plan=small_plan("Other."))) == "DPQL614"


def test_signer_that_the_plan_does_not_name_is_refused() -> None:
    """A trusted key in the right role must also be the one the spec names."""
    trust = parse_trust(
        trust_line(STEWARD.public, "somebody@example.org", ("dpql-release",))
    )
    envelope = seal(make_payload(small_plan()), [STEWARD])
    assert refused(lambda: check(envelope, trust)) == "DPQL613"
