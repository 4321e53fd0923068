"""dpql: differential privacy you can review, run exactly, and verify.

    import dpql
    spec    = dpql.load("specs/wages.yaml")        # SpecError has every fault
    plan    = dpql.plan(spec)                      # pure; print(plan) is for review
    release = dpql.run(plan, {"wages": frame})     # the only verb that sees rows
    report  = dpql.sign(release, "keys/steward")   # report.write(folder)
    release = dpql.verify(report, "allowed_signers")

Beside these five: `read` a plan, `diff` two of them, `approve` one, `rehearse` one on
invented rows. Everything they return is a frozen value. What is wrong with a spec, a
plan, data, a key, a report or a ledger is raised as a `DpqlError`; a value of a wrong
type is the caller's mistake and Python's own error. Names are bound when they are first
used, so that importing dpql costs next to nothing.
"""

from __future__ import annotations

from dpql import forks as _forks  # noqa: F401  watches forks from now on

__version__ = "0.5.0"

__all__ = [
    "DpqlError",
    "__version__",
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


def __getattr__(name: str) -> object:
    """Bind a public name on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'dpql' has no attribute {name!r}")
    from importlib import import_module

    module = "dpql.errors" if name == "DpqlError" else "dpql.api"
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # Modules and helpers that happen to be bound are nobody's business.
    return sorted(__all__)
