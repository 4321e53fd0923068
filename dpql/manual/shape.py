"""The manual of DPQL2xx: the text reads well but is not shaped like a spec."""

from __future__ import annotations

from dpql.manual.code import Code

SHAPE: dict[str, Code] = {
    "DPQL201": Code(
        title="a key is missing",
        cause=(
            "What decides about privacy must be said. Only `neighbours`, `delta` and "
            "`defaults` may be left out; a plan shows what is filled in for them."
        ),
        wrong="# epsilon: 1.0",
        right="epsilon: 1.0",
    ),
    "DPQL202": Code(
        title="a key is not known here",
        cause="The key is misspelt, or belongs somewhere else.",
        wrong="dleta: 0",
        right="delta: 0",
    ),
    "DPQL203": Code(
        title="a list, a block or a value stands where another kind belongs",
        cause="Lists are written in brackets, blocks as keys with colons.",
        wrong="by: district",
        right="by: [district]",
    ),
    "DPQL204": Code(
        title="a value is empty",
        cause="Nothing stands after the colon.",
        wrong="purpose:",
        right="purpose: Monthly wage tables by district.",
    ),
    "DPQL205": Code(
        title="a value is not a number",
        cause=(
            "Numbers are finite and exact: `250`, `0.05`, `1e-9`, `2_000_000`, `1/3`. "
            "Words of other readers (`.nan`, `010`, `12:30`, `0x1F`) are not numbers."
        ),
        wrong="bounds: [0, .nan]",
        right="bounds: [0, 20_000]",
    ),
    "DPQL206": Code(
        title="a number is too long or too large",
        cause="A number has at most 64 characters and an exponent of at most 308.",
        wrong="bounds: [0, 1e400]",
        right="bounds: [0, 20_000]",
    ),
    "DPQL207": Code(
        title="a number is not whole",
        cause="Rows, groups and contributions are counted.",
        wrong="rows: {at_most: 2.5}",
        right="rows: {at_most: 2_000_000}",
    ),
    "DPQL208": Code(
        title="a name has characters that names do not have",
        cause=(
            "Releases, sources and statistics have letters, digits, `_`, `-` and `.`. "
            "Columns may have any visible characters but backquotes."
        ),
        wrong="release: wages in 2025",
        right="release: district_wages_2025",
    ),
    "DPQL209": Code(
        title="a word is not one of those allowed",
        cause="The value is one of a few words; the hint names them.",
        wrong="neighbours: unbounded",
        right="neighbours: add_remove",
    ),
    "DPQL210": Code(
        title="a list or block has too few or too many items",
        cause="Bounds are two numbers, a covariance has two columns, and so on.",
        wrong="bounds: [16]",
        right="bounds: [16, 100]",
    ),
    "DPQL211": Code(
        title="a key does not go with the statistic",
        cause="`bins` belongs to a histogram, `at_least` to a mean or a variance.",
        wrong="count: rows\nbins: [16, 65]",
        right="count: rows",
    ),
    "DPQL212": Code(
        title="a text is too long",
        cause="Names, units, purposes and conditions have a greatest length.",
        wrong="unit: years since the day on which the person was born",
        right="unit: year",
    ),
    "DPQL213": Code(
        title="exactly one of several keys must be given",
        cause=(
            "A statistic computes one thing and is paid one way; rows are exact or "
            "bounded."
        ),
        wrong="spend: {accuracy: 60, share: 1}",
        right="spend: {accuracy: 60}",
    ),
    "DPQL214": Code(
        title="columns have no type yet",
        cause=(
            "`dpql init --from-schema` writes `unknown` where the file does not say "
            "what a column holds, as csv never does."
        ),
        wrong="person_id: {type: unknown}",
        right="person_id: {type: id}",
    ),
}
