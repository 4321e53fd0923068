"""Spec to plan, before any data: what will be released, at what cost, how exactly."""

from __future__ import annotations

from dpql.planner.compiler import PASSES, audit, audit_published, plan, read

__all__ = ["PASSES", "audit", "audit_published", "plan", "read"]
