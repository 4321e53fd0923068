"""The glossary: the terms of the field, in a few sentences each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A term: a definition of one line, and what to know about it."""

    title: str
    text: str


TERMS: dict[str, Term] = {
    "epsilon": Term(
        "how much a release may reveal about one unit (ε)",
        "Whether or not one unit is in the data changes the probability of any result "
        "by a factor of at most e^ε: 1.11 for ε = 0.1, 2.72 for 1, 148 for 5. The "
        "epsilons of all releases about the same data add up; the ledger keeps the "
        "sum.",
    ),
    "delta": Term(
        "the chance that the promise of epsilon does not hold",
        "0 unless a spec says otherwise: then every release is pure. With a delta, "
        "such as 1e-9, the factor e^ε holds except with that probability, noise may "
        "be Gaussian, and many statistics cost less together than the sum of their "
        "epsilons.",
    ),
    "rho": Term(
        "what noise costs under zero-concentrated privacy (ρ)",
        "The unit of account of a release with a delta. The ρ of statistics add up; "
        "their sum is converted into an epsilon at the delta once. Pure noise of ε "
        "costs at most ε²/2, Gaussian noise of variance σ² the squared sensitivity "
        "over 2σ².",
    ),
    "alpha": Term(
        "one minus the confidence of a stated accuracy",
        "With alpha 0.05 the released value is within the stated ± of the one before "
        "noise in 95 of 100 releases. It changes what is said, not what is released: "
        "no noise depends on it, unless an accuracy target is priced at it.",
    ),
    "gamma": Term(
        "how unlikely it must be that the outer clamp of snapping acts",
        "Snapping clamps its result to a public bound. The bound is chosen so that "
        "the noise reaches it with probability at most gamma.",
    ),
    "sensitivity": Term(
        "how far one unit can move a statistic",
        "The planner computes it exactly from the declared bounds and contributions; "
        "noise is scaled to it. It is never measured on data.",
    ),
    "neighbours": Term(
        "which data sets must be hard to tell apart",
        "add_remove: a unit is there or not; the number of rows is private. "
        "replace_one: a unit's rows are replaced by any others; the number of rows is "
        "public. Neither promise implies the other at the same ε.",
    ),
    "snapping": Term(
        "a mechanism for numbers, safe in floating point",
        "Laplace noise rounded to a power of two and clamped, with the exact "
        "accounting of Mironov (2012) and the notes that followed it. Its grid is a "
        "power of two, so its accuracy moves in steps as ε changes.",
    ),
    "geometric": Term(
        "two-sided geometric noise on whole numbers",
        "The discrete form of Laplace noise, drawn exactly by inverting its tail. All "
        "statistics are whole numbers of steps, so it can be used for any of them.",
    ),
    "share": Term(
        "a part of what is left of the budget",
        "First come the statistics that name an epsilon or an accuracy; the rest of "
        "the total is split among the others in proportion to their shares.",
    ),
    "accuracy": Term(
        "how far the noise moves a value, with probability 1 - alpha",
        "It speaks of noise alone: sampling, missing answers and values clamped to "
        "their bounds are not in it. Where it rests on `at_least`, it holds only if "
        "every group has so many rows. As a way to spend (`spend: {accuracy: 60}`) it "
        "asks for the least epsilon that keeps the error within 60.",
    ),
    "unit": Term(
        "whom the promise protects; also: the unit of measure of a column",
        "Under `privacy`, the unit is the id column whose every value is protected as "
        "a whole, with all its rows up to the declared contribution, or `row`.",
    ),
    "plan": Term(
        "what will be done, decided before any data",
        "It holds the spec, the exact noise of every statistic, costs and promises. "
        "The same spec always gives the same bytes; their sha256 is the plan's name. "
        "A reviewer approves the plan and a run obeys it to the letter.",
    ),
    "approval": Term(
        "a reviewer's signature on a plan",
        "It names the digest of the plan, the dataset, how often it may run and until "
        "when; all its runs in the ledger count. A "
        "dataset whose owner asks for approvals runs no plan without one.",
    ),
    "private": Term(
        "the keys of a column that nobody can list beforehand",
        "A statistic finds them in the data: those that so many units have that no "
        "single one matters, except with probability delta. The plan says from how "
        "many units on a key appears: never below a first number, in half of the runs "
        "from a second one on, nearly always from a third one on. Nothing says how "
        "many keys do not appear.",
    ),
    "others": Term(
        "the key of everything that is no other key",
        "With `others: true` cells that are no declared key, or no key that was "
        "found, have a group of their own instead of none. Missing cells stay without "
        "one.",
    ),
    "ledger": Term(
        "what has been spent on a dataset, over all releases",
        "Its owner opens it with a cap. A run debits it durably before the first coin "
        "is drawn; what does not fit is refused. Entries are chained by hashes.",
    ),
    "release": Term(
        "the noisy values with their accuracy, signed",
        "A folder with release.dsse.json, which holds every claim and is signed, the "
        "values as CSV and Parquet, and a page to read.",
    ),
    "rehearsal": Term(
        "a run on synthetic rows",
        "It takes the same path as a run, on rows made up from the spec. It is marked "
        "as a rehearsal throughout and cannot be signed as a release.",
    ),
    "clamp": Term(
        "to move a value to the nearest end of its interval",
        "Cells outside the declared bounds count as the bound. Wide bounds need more "
        "noise, narrow ones distort; choose them from knowledge of the field.",
    ),
}
