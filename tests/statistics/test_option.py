"""Keys that only some statistics have."""

from __future__ import annotations

from dataclasses import fields

from dpql.model.spec import Statistic
from dpql.statistics import OPTIONS, STATISTICS, statistics_with


def test_a_name_belongs_to_one_option() -> None:
    """Statistics share an option, or their options have different names."""
    shared = [o for statistic in STATISTICS.values() for o in statistic.options]
    assert all(option in OPTIONS for option in shared)
    assert len(OPTIONS) == len({option.name for option in OPTIONS})


def test_the_model_holds_every_option() -> None:
    """The member of an option is one of a statistic of a spec."""
    members = {field.name for field in fields(Statistic)}
    assert set() == {option.member for option in OPTIONS} - members


def test_options_belong_to_statistics() -> None:
    """Bins are of histograms, promises of what a count divides, keys are counted."""
    found = {option.name: statistics_with(option) for option in OPTIONS}
    assert {
        "shown_from": ("count", "list"),
        "bins": ("histogram",),
        "width": ("histogram",),
        "at": ("quantile",),
        "at_least": ("proportion", "mean", "variance", "covariance"),
    } == found
