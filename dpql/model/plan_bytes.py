"""From bytes to a plan, in any format that is known."""

from __future__ import annotations

from dpql.errors import PlanFault
from dpql.model.codec import Malformed, decode, parse
from dpql.model.plan import FORMATS, LIMIT, Plan


def decode_plan(data: bytes) -> Plan:
    """Return the plan that the bytes encode, without checking its arithmetic.

    Use `dpql.planner.read`, which audits it too.

    Raises:
        PlanFault: the bytes are not the canonical JSON of a plan (DPQL400, DPQL401).
    """
    try:
        document = parse(data, limit=LIMIT)
        formats = [str(version) for version in FORMATS]
        if isinstance(document, dict) and document.get("version") not in formats:
            words = f"this plan is not of format {' or '.join(formats)}"
            hint = "plan the spec again with this dpql"
            raise PlanFault.of("DPQL401", words, hint=hint)
        plan = decode(Plan, document)
    except Malformed as error:
        raise _forged(str(error)) from error
    assert isinstance(plan, Plan)
    if plan.to_json() != data:
        raise _forged("the bytes are not in canonical form")
    return plan


def _forged(why: str) -> PlanFault:
    hint = "a plan is not edited by hand; plan the spec again"
    return PlanFault.of("DPQL400", f"not the plan that dpql wrote: {why}", hint=hint)
