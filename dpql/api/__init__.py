"""The verbs of dpql; each one imports its stage when it is first called.

    load      a spec from a file           plan      a plan from a spec
    read      a plan from a file           diff      what a change means
    run       a release from rows          rehearse  the same from invented rows
    sign      a report on a release        verify    what a report vouches for
    approve   a reviewer's signature

`dpql.api.execute.execute` is a whole run: approvals, ledger, noise, signature, folder.
"""

from __future__ import annotations

from dpql.api.plans import diff, load, plan, read
from dpql.api.releases import approve, rehearse, run, sign, verify

__all__ = [
    "approve",
    "diff",
    "load",
    "plan",
    "read",
    "rehearse",
    "run",
    "sign",
    "verify",
]
