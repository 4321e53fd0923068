"""The manual of DPQL3xx: the spec is shaped well but says something impossible."""

from __future__ import annotations

from dpql.manual.code import Code

MEANING: dict[str, Code] = {
    "DPQL301": Code(
        title="there is no such column",
        cause="Every column that is used is declared under `columns`.",
        wrong="mean: wages",
        right="mean: wage",
    ),
    "DPQL302": Code(
        title="a column is of the wrong type for its use",
        cause=(
            "Groups are formed by categories and booleans, sums and means are of "
            "numbers and booleans, the unit of privacy is an id, and otherwise only "
            "`distinct` takes an id. A category with `keys: private` may stand in `by` "
            "and in `distinct`; no condition and no derived column reads it."
        ),
        wrong="by: [age]",
        right="by: [district]",
    ),
    "DPQL303": Code(
        title="the lower bound is not below the upper bound",
        cause="Bounds are an interval with some room in it, lower end first.",
        wrong="bounds: [100, 16]",
        right="bounds: [16, 100]",
    ),
    "DPQL304": Code(
        title="the bounds are not a whole number of steps apart",
        cause=(
            "`step` is above 0 and divides the width of the bounds; integers have "
            "whole bounds and whole steps."
        ),
        wrong="step: 0.03",
        right="step: 0.01",
    ),
    "DPQL305": Code(
        title="an item is twice in a list",
        cause="Keys, groups, inputs and lists of conditions have distinct items.",
        wrong="keys: [north, east, north, west]",
        right="keys: [north, east, south, west]",
    ),
    "DPQL306": Code(
        title="the bins of a histogram do not fit",
        cause=(
            "Bin edges increase and lie within the bounds. A number column needs them, "
            "a category has its keys instead."
        ),
        wrong="bins: [16, 65, 25, 100]",
        right="bins: [16, 25, 65, 100]",
    ),
    "DPQL307": Code(
        title="nulls count as a value outside the bounds",
        cause="The value is clamped like any other, so it must lie within the bounds.",
        wrong="nulls: {as: -1}",
        right="nulls: {as: 0}",
    ),
    "DPQL308": Code(
        title="`drop` would change a public number of rows",
        cause=(
            "Under replace_one the number of rows is public and every row counts. "
            "Give a public value for nulls instead."
        ),
        wrong="nulls: drop     # under replace_one",
        right="nulls: {as: 0}  # under replace_one",
    ),
    "DPQL309": Code(
        title="replace_one needs a public number of rows",
        cause="Neighbours that differ in one replaced row have equally many rows.",
        wrong="neighbours: replace_one",
        right="neighbours: add_remove",
    ),
    "DPQL310": Code(
        title="epsilon is out of range",
        cause="The total budget is above 0 and at most 1000.",
        wrong="epsilon: 0",
        right="epsilon: 1.0",
    ),
    "DPQL311": Code(
        title="delta is no small probability",
        cause=(
            "delta is the probability that the promise of epsilon does not hold: at "
            "least 0, where the release is pure, and below 1. Something far below 1 in "
            "the number of units is usual, such as 1e-9."
        ),
        wrong="delta: 1",
        right="delta: 0",
    ),
    "DPQL312": Code(
        title="alpha or gamma is not a probability",
        cause="alpha lies strictly between 0 and 1; gamma is above 0 and at most 1.",
        wrong="alpha: 5",
        right="alpha: 0.05",
    ),
    "DPQL314": Code(
        title="a spend is out of range",
        cause=(
            "Shares, epsilons and accuracies are above 0, and no statistic spends more "
            "than the total."
        ),
        wrong="spend: {share: 0}",
        right="spend: {share: 2}",
    ),
    "DPQL315": Code(
        title="what a unit contributes is not said, or makes no sense",
        cause=(
            "With an id, `contributes` is needed and enforced; its numbers are at "
            "least 1. With `unit: row` there is nothing to say."
        ),
        wrong="contributes: {rows: 0, groups: 1}",
        right="contributes: {rows: 3, groups: 1}",
    ),
    "DPQL316": Code(
        title="there are too few rows",
        cause="Data have at least one row; a variance and a covariance need two.",
        wrong="rows: {at_most: 0}",
        right="rows: {at_most: 2_000_000}",
    ),
    "DPQL317": Code(
        title="at_least cannot be promised",
        cause=(
            "The promise is from 1 to the declared rows, and of use only where the "
            "number of rows is private."
        ),
        wrong="at_least: 0",
        right="at_least: 500",
    ),
    "DPQL319": Code(
        title="a literal does not fit its column",
        cause=(
            "Numbers are compared with numbers, categories with their declared keys, "
            "and keys have no order."
        ),
        wrong="district == nroth",
        right="district == north",
    ),
    "DPQL320": Code(
        title="`between` has its ends the wrong way round",
        cause="The smaller number comes first; otherwise nothing could pass.",
        wrong="where: age between 54 and 25",
        right="where: age between 25 and 54",
    ),
    "DPQL321": Code(
        title="the statistic would release too many numbers",
        cause="The product of all keys and bins is at most 1,000,000.",
        wrong="by: [postcode, birthday, occupation]",
        right="by: [district]",
    ),
    "DPQL322": Code(
        title="two columns or two keys look alike",
        cause=(
            "They differ only in how Unicode spells the same letters, or in letters "
            "of another alphabet that look the same."
        ),
        wrong="ﬁrst: {type: id}\nfirst: {type: id}",
        right="first: {type: id}",
    ),
    "DPQL323": Code(
        title="an id column cannot be called row",
        cause="`unit: row` already means that each row is a unit.",
        wrong="row: {type: id}",
        right="person_id: {type: id}",
    ),
    "DPQL324": Code(
        title="a word mixes alphabets",
        cause=(
            "Latin, Greek, Cyrillic and a few other alphabets share letters that look "
            "the same; a word of two of them reads as a word that it is not."
        ),
        wrong="keys: [n\u043erth, east, south, west]",
        right="keys: [north, east, south, west]",
    ),
    "DPQL325": Code(
        title="there are more rows than can be counted",
        cause="Rows are counted in 64 bits; at most 2^62 can be declared.",
        wrong="rows: {at_most: 5_000_000_000_000_000_000}",
        right="rows: {at_most: 2_000_000}",
    ),
    "DPQL326": Code(
        title="units are counted where each row is one",
        cause="`count: units` counts each unit once, however many rows it has.",
        wrong="unit: row",
        right="unit: person_id",
    ),
    "DPQL327": Code(
        title="the different values of the unit are counted",
        cause=(
            "Each unit has one value, its own. `count: units` counts them and needs no "
            "more noise for units with many rows."
        ),
        wrong="distinct: person_id",
        right="count: units",
    ),
    "DPQL328": Code(
        title="the quantiles are out of range or out of order",
        cause=(
            "`at` lists the quantiles from the smallest to the largest, each strictly "
            "between 0 and 1, with denominators of at most 2^20. The smallest and the "
            "largest value belong to single units, so no noise could hide them."
        ),
        wrong="at: [0, 1/2, 1]",
        right="at: [1/10, 1/2, 9/10]",
    ),
    "DPQL329": Code(
        title="a quantile takes no mechanism",
        cause=(
            "Quantiles and medians are chosen among the values of the column's grid "
            "by the exponential mechanism; nothing is added to a number."
        ),
        wrong="median: age\nmechanism: geometric",
        right="median: age",
    ),
    "DPQL330": Code(
        title="a total cannot be that of these groups",
        cause=(
            "`total` names a count of rows or a sum that has groups, in the same spec, "
            "and has everything but its spending from there. The groups add up to it "
            "exactly, which is right only where total and groups have the same noise: "
            "under add_remove, with equal spend and alpha. Groups of private keys have "
            "no total: rows of keys that are not found are in none of them."
        ),
        wrong="total: wage_mean",
        right="total: headcount",
    ),
    "DPQL360": Code(
        title="an operand is of the wrong kind",
        cause=(
            "Numbers are added and compared with numbers, dates with dates, keys are "
            "mapped and compared for equality, and `not`, `and`, `or` join conditions."
        ),
        wrong="where: age + district > 54",
        right="where: age between 25 and 54",
    ),
    "DPQL361": Code(
        title="a word is a column and a key",
        cause=(
            "A bare word right of an operator is a column if one is declared, else a "
            "key. Where it could be both, quotes make it a key, backquotes a column."
        ),
        wrong="north: {type: boolean, nulls: drop} and where: district == north",
        right="north: {type: boolean, nulls: drop} and where: district == 'north'",
    ),
    "DPQL362": Code(
        title="an expression meets whole numbers that are too large",
        cause=(
            "Expressions are computed exactly, in steps, and no number of steps may "
            "reach 2^62. Rounding makes steps larger and their number smaller."
        ),
        wrong="where: wage * wage * wage * wage > 54",
        right="where: age between 25 and 54",
    ),
    "DPQL363": Code(
        title="a function is called in a wrong way",
        cause=(
            "The hint shows how. A function is known by its name before a "
            "parenthesis, and has so many arguments."
        ),
        wrong="where: sqrt(age) between 5 and 7",
        right="where: age between 25 and 54",
    ),
    "DPQL364": Code(
        title="a derived column is not possible",
        cause=(
            "Its name is new, it names declared columns or derived ones above it, and "
            "it is a number, a key, or true or false, which rows can differ in."
        ),
        wrong="age: wage // 1_000 below derived",
        right="thousands: wage // 1_000 below derived",
    ),
    "DPQL365": Code(
        title="a date, a time or a zone cannot be read",
        cause=(
            "Dates and times are those of ISO 8601, of years 1 to 9999. A zone is a "
            "distance from UTC; there is no summer time."
        ),
        wrong="bounds: [2013-01-01, 2013-02-29]",
        right="bounds: [2013-01-01, 2013-02-28]",
    ),
    "DPQL370": Code(
        title="Gaussian noise and rho need a delta",
        cause=(
            "Gaussian noise bounds the factor e^ε except with probability delta, and a "
            "ρ becomes an ε at a delta. With a delta of 0 the release is pure."
        ),
        wrong="mechanism: gaussian",
        right="mechanism: geometric",
    ),
    "DPQL371": Code(
        title="a way of spending and a mechanism do not fit",
        cause=(
            "What Gaussian noise costs is a ρ, never an ε of its own; only the whole "
            "release has an ε and a δ. A ρ is what Gaussian noise spends, or `auto`."
        ),
        wrong="mechanism: gaussian, spend: {epsilon: 0.1}",
        right="mechanism: gaussian, spend: {rho: 0.001}",
    ),
    "DPQL372": Code(
        title="private keys need a delta",
        cause=(
            "A key that one unit alone has would tell that this unit is there. With a "
            "delta above 0 such keys appear with no more than that probability. "
            "Without one, the keys must be public."
        ),
        wrong="district: {type: category, keys: private} with delta: 0",
        right="district: {type: category, keys: private} with delta: 1e-9",
    ),
    "DPQL373": Code(
        title="nothing finds the keys of private columns",
        cause=(
            "Groups of private keys are those that one statistic finds: a count of "
            "units, or a list of keys, by exactly these private columns and no other. "
            "Where each row is a unit, that is a count of rows."
        ),
        wrong="flights: {count: rows, by: [dest, carrier], spend: {share: 1}}",
        right=(
            "planes: {count: units, by: [dest], spend: {share: 1}}\n"
            "flights: {count: rows, by: [dest, carrier], spend: {share: 1}}"
        ),
    ),
    "DPQL374": Code(
        title="shown_from is out of place or out of range",
        cause=(
            "It is the least number of units of a key that is found, from 1 to the "
            "declared rows, and belongs to the statistic that finds the keys."
        ),
        wrong="planes: {count: units, by: [dest], shown_from: 0, spend: {share: 1}}",
        right="planes: {count: units, by: [dest], shown_from: 10, spend: {share: 1}}",
    ),
    "DPQL375": Code(
        title="a key is called others",
        cause=(
            "`others: true` adds a key `others` of all cells that are none of the "
            "declared keys. No declared key can have that name, or look like it."
        ),
        wrong="keys: [north, east, others], others: true",
        right="keys: [north, east, rest], others: true",
    ),
    "DPQL376": Code(
        title="there is nothing to list",
        cause=(
            "`list: keys` shows which keys of private columns enough units have, "
            "without a number. Keys that are declared, or listed already, need no "
            "statistic."
        ),
        wrong="places: {list: keys, by: [carrier], spend: {share: 1}}",
        right="places: {list: keys, by: [dest], spend: {share: 1}}",
    ),
    "DPQL377": Code(
        title="snapping finds no keys",
        cause=(
            "Keys are found, with their counts or without, by geometric or Gaussian "
            "noise, whose chance to be large is known exactly. Where `defaults` say "
            "snapping, what finds keys is `auto`: whichever shows keys of fewer units."
        ),
        wrong="planes: {count: units, by: [dest], mechanism: snapping}",
        right="planes: {count: units, by: [dest], mechanism: auto}",
    ),
}
