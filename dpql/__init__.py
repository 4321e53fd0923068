"""dpql: differential privacy you can review, run exactly, and verify.

    import dpql
    spec = dpql.load("specs/wages.yaml")    # or SpecError, with every fault and place
    plan = dpql.plan(spec)                  # pure; print(plan) is the review table

`load`, `plan`, `read` and `diff` see no data. Everything they return is a frozen value;
everything they raise is a `DpqlError`. The names are bound when they are first used,
so that importing dpql costs next to nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

_PLACES = {
    "DpqlError": "dpql.errors",
    "diff": "dpql.api",
    "load": "dpql.api",
    "plan": "dpql.api",
    "read": "dpql.api",
}

__all__ = ["DpqlError", "__version__", "diff", "load", "plan", "read"]


def __getattr__(name: str) -> object:
    """Bind a public name on first use."""
    if name not in _PLACES:
        raise AttributeError(f"module 'dpql' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])
