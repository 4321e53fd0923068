"""The manual of DPQL4xx: the spec cannot be planned."""

from __future__ import annotations

from dpql.manual.code import Code

PLANNING: dict[str, Code] = {
    "DPQL400": Code(
        title="the file is not a plan in canonical form",
        cause=(
            "A plan is read strictly: JSON without duplicate or unknown members, every "
            "number as exact text, in the one spelling that dpql writes."
        ),
        wrong='{"epsilon": 1.0}',
        right="the file that `dpql plan --out` wrote",
    ),
    "DPQL401": Code(
        title="the plan is of another format",
        cause="The plan was written by a dpql whose plan format this one cannot read.",
        wrong='"version": "3"',
        right='"version": "2"',
    ),
    "DPQL402": Code(
        title="the plan disagrees with itself",
        cause=(
            "A plan carries the spec it came from. Every other member is derived again "
            "when the plan is read, by the rules of the plan's own format, and one of "
            "them differs: the plan was altered."
        ),
        wrong="a plan edited by hand",
        right="a plan made again from its spec",
    ),
    "DPQL403": Code(
        title="the plan spends more than its budget",
        cause=(
            "The privacy loss, recomputed from the parameters of the noise alone, is "
            "above the epsilon that the part, the step or the plan may spend."
        ),
        wrong="a plan whose noise was made smaller",
        right="a plan made again from its spec",
    ),
    "DPQL404": Code(
        title="the plan was made by an older planner",
        cause=(
            "Its format is one that this dpql reads and verifies, but no longer makes: "
            "the same spec is planned otherwise now. Releases of the plan stay valid; "
            "to run, approve or sign, plan the spec again and review what changed."
        ),
        wrong="`dpql run NAME.plan.json` with a plan of dpql 0.1",
        right="`dpql plan NAME.yaml --out NAME.plan.json`, then run it",
    ),
    "DPQL405": Code(
        title="the plan beside the spec is missing or stale",
        cause=(
            "NAME.plan.json must be exactly what NAME.yaml or NAME.dpql compiles to, "
            "so that what is reviewed is what runs."
        ),
        wrong="a spec changed without its plan",
        right="`dpql plan NAME.yaml --out NAME.plan.json`",
    ),
    "DPQL406": Code(
        title="the plan has no such statistic",
        cause="`plan.step` takes the name of a statistic of the spec.",
        wrong='plan.step("wage_maen")',
        right='plan.step("wage_mean")',
    ),
    "DPQL410": Code(
        title="the accuracy target is not positive or is beyond the grid",
        cause=(
            "A target must exceed the error that rounding values to the grid makes "
            "before any noise is drawn."
        ),
        wrong="spend: {accuracy: 0}",
        right="spend: {accuracy: 60}",
    ),
    "DPQL411": Code(
        title="the accuracy target is vacuous",
        cause=(
            "The target is at least as wide as the statistic's public range: any "
            "constant inside the range meets it without a look at the data. Nothing "
            "should be spent on it."
        ),
        wrong="spend: {accuracy: 1_000_000}",
        right="spend: {accuracy: 60}",
    ),
    "DPQL412": Code(
        title="the accuracy target needs more epsilon than any release may spend",
        cause="Reaching the target would take an epsilon above the ceiling of 1000.",
        wrong="spend: {accuracy: 1e-9}",
        right="spend: {accuracy: 0.5}",
    ),
    "DPQL413": Code(
        title="a privacy parameter is out of range",
        cause=(
            "epsilon must be above 0 and at most 1000, alpha strictly between 0 and "
            "1, gamma above 0 and at most 1, sensitivity above 0, and the range of a "
            "statistic must have its lower end below its upper end."
        ),
        wrong="epsilon: 0",
        right="epsilon: 1.0",
    ),
    "DPQL414": Code(
        title="the parameters of the noise contradict each other",
        cause=(
            "A plan states every parameter of its noise; some follow from others. "
            "These do not, so the plan was edited or damaged."
        ),
        wrong='"theta": "1/2", "epsilon": "2"  (sensitivity 1)',
        right='"theta": "2", "epsilon": "2"',
    ),
    "DPQL420": Code(
        title="the number of all rows is public already",
        cause=(
            "Under replace_one with `unit: row` the number of rows is declared, so an "
            "unfiltered count of them releases nothing and must cost nothing."
        ),
        wrong="count: rows",
        right="count: rows\nwhere: age >= 18",
    ),
    "DPQL421": Code(
        title="too few rows for a variance",
        cause="A sample variance or covariance divides by n - 1; n must be at least 2.",
        wrong="rows: {exactly: 1}",
        right="rows: {exactly: 1_000}",
    ),
    "DPQL422": Code(
        title="the mechanism cannot hide a covariance of a private number of rows",
        cause=(
            "Where the number of rows is private (with a filter, with groups, under "
            "add_remove, or where units have several rows) a covariance is made of "
            "parts that share one sensitivity. Only geometric noise allows that."
        ),
        wrong="covariance: [age, wage]\nby: [district]\nmechanism: snapping",
        right="covariance: [age, wage]\nby: [district]\nmechanism: geometric",
    ),
    "DPQL423": Code(
        title="an accuracy target on a ratio needs a promised count",
        cause=(
            "The error of a mean or variance over a private number of rows depends on "
            "that number. With a public lower bound on it the cost can be computed."
        ),
        wrong="spend: {accuracy: 50}",
        right="at_least: 1_000\nspend: {accuracy: 50}",
    ),
    "DPQL424": Code(
        title="dropping nulls would change a public number of rows",
        cause=(
            "Where the number of rows is public, every row must stay in the set; a "
            "cell without a value takes a declared one."
        ),
        wrong="nulls: drop",
        right="nulls: {as: 0}",
    ),
    "DPQL425": Code(
        title="a ratio divides by a column that may be 0",
        cause=(
            "A ratio is the sum of one column over the sum of another. Its range, and "
            "so its interval, is known only where the divisor's bounds are above 0."
        ),
        wrong="air_time: {type: integer, bounds: [0, 700]}",
        right="air_time: {type: integer, bounds: [1, 700]}",
    ),
    "DPQL430": Code(
        title="the total epsilon is too small for what is asked",
        cause=(
            "The epsilons named and the accuracy targets priced add up to more than "
            "the total, or leave nothing to share."
        ),
        wrong="epsilon: 0.1",
        right="epsilon: 1.0",
    ),
    "DPQL431": Code(
        title="the epsilons cannot be written down exactly",
        cause=(
            "A plan states every epsilon and their sum as exact fractions. These have "
            "no common denominator that is short enough to be read."
        ),
        wrong="a hundred statistics, each with another `epsilon: 1/...` of 60 digits",
        right="spend: {epsilon: 0.1}",
    ),
    "DPQL432": Code(
        title="a column is too large or too fine to be counted",
        cause=(
            "Integers are counted in 64 bits, up to 2^60 on either side of 0, and "
            "other numbers as doubles. Beyond that the error of rounding would be "
            "more than the plan states."
        ),
        wrong="bounds: [0, 4_611_686_018_427_387_904]",
        right="bounds: [0, 100_000]",
    ),
    "DPQL433": Code(
        title="a column has too many steps to count its values",
        cause=(
            "`distinct` counts the values of a column at its steps, and this one has "
            "more steps than are counted exactly."
        ),
        wrong="x: {type: decimal, bounds: [0, 1e9], step: 1e-9, nulls: drop}",
        right="x: {type: decimal, bounds: [0, 1e9], step: 0.01, nulls: drop}",
    ),
    "DPQL434": Code(
        title="a derived column has too many steps to be summed, or none",
        cause=(
            "The steps of a derived column follow from its operands. At most 2^46 of "
            "them are summed and 2^31 multiplied, fewer for very many rows."
        ),
        wrong="area: wage * wage * wage below derived",
        right="area: round(wage, 1_000) * round(wage, 1_000) below derived",
    ),
    "DPQL435": Code(
        title="the release would be too large to be read",
        cause=(
            "The signed envelope of a release has at most 1 GiB, so that whoever "
            "verifies it can read it. It is bounded by the number of values, the "
            "lengths of their keys and the ranges of their numbers, before anything "
            "is spent."
        ),
        wrong="three counts, each by two columns of 1,000 keys",
        right="one of them in each of three releases",
    ),
    "DPQL440": Code(
        title="Gaussian noise needs a delta",
        cause=(
            "Gaussian noise bounds the factor e^ε except with probability delta. A "
            "release with a delta of 0 is pure, and takes other noise."
        ),
        wrong="dpql plan --set mechanism=gaussian specs/pure.yaml",
        right="privacy: {epsilon: 1, delta: 1e-9}",
    ),
    "DPQL441": Code(
        title="Gaussian noise has no epsilon of its own",
        cause=(
            "What Gaussian noise costs is a ρ. Only the release as a whole has an ε "
            "and a δ, into which the ρ of its statistics are converted once."
        ),
        wrong="mechanism: gaussian, spend: {epsilon: 0.1}",
        right="mechanism: gaussian, spend: {rho: 0.001}",
    ),
    "DPQL442": Code(
        title="there are no keys to be found",
        cause=(
            "A list of keys is of private columns, and none where another statistic "
            "lists the keys of the same columns."
        ),
        wrong="places: {list: keys, by: [carrier], spend: {share: 1}}",
        right="places: {list: keys, by: [dest], spend: {share: 1}}",
    ),
    "DPQL443": Code(
        title="the mechanism finds no keys",
        cause=(
            "What finds keys has geometric or Gaussian noise, whose chance to be large "
            "is known exactly."
        ),
        wrong="dpql plan --set mechanism=snapping specs/places.yaml",
        right="dpql plan --set mechanism=geometric specs/places.yaml",
    ),
}
