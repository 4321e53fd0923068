"""The manual of DPQL1xx: the text cannot be read."""

from __future__ import annotations

from dpql.manual.code import Code

_DEEP = 33

SYNTAX: dict[str, Code] = {
    "DPQL101": Code(
        title="the file cannot be read",
        cause="There is no such file, it is a directory or a device, or it is locked.",
        wrong="dpql check specs/",
        right="dpql check specs/wages.yaml",
    ),
    "DPQL102": Code(
        title="the form of the spec is not known",
        cause="The suffix of a file says its form: .yaml or .yml, or .dpql.",
        wrong="dpql check wages.txt",
        right="dpql check wages.yaml",
    ),
    "DPQL103": Code(
        title="something is given twice",
        cause=(
            "Other readers silently take the last of two equal keys, so a reviewer "
            "who reads the first approves something else. Here it is a fault."
        ),
        wrong="epsilon: 1.0\nepsilon: 10.0",
        right="epsilon: 1.0",
    ),
    "DPQL104": Code(
        title="the file is not UTF-8 text",
        cause="Some bytes are not UTF-8; other encodings are not guessed.",
        wrong="a file saved as Latin-1 or UTF-16",
        right="the same file saved as UTF-8",
    ),
    "DPQL105": Code(
        title="the text starts with a byte order mark",
        cause="The mark is invisible, and tools disagree on what it means.",
        wrong="a file saved as `UTF-8 with BOM`",
        right="the same file saved as `UTF-8`",
    ),
    "DPQL106": Code(
        title="the text holds a hidden character",
        cause=(
            "Control characters, zero-width characters and marks that reverse the "
            "direction of text let a spec read differently from what it says."
        ),
        wrong="release: wages\\u202e",
        right="release: wages",
    ),
    "DPQL107": Code(
        title="the spec is larger than 1 MiB",
        cause="Nobody can review that much; it is refused before it is read.",
        wrong="one spec with twenty thousand statistics",
        right="several specs, each a release of its own",
    ),
    "DPQL108": Code(
        title="the text is not well-formed YAML",
        cause=(
            "The indentation, a colon, a bracket or a quotation mark is out of place, "
            "or the file is empty."
        ),
        wrong="purpose: Wages: monthly tables by district.",
        right="purpose: Monthly wage tables by district.",
    ),
    "DPQL109": Code(
        title="an anchor is used",
        cause="Anchors and aliases let a value be written far from where it acts.",
        wrong="epsilon: &total 1.0",
        right="epsilon: 1.0",
    ),
    "DPQL110": Code(
        title="an alias is used",
        cause="An alias stands for text written elsewhere; a reviewer should see it.",
        wrong="epsilon: *total",
        right="epsilon: 1.0",
    ),
    "DPQL111": Code(
        title="a merge key is used",
        cause="`<<` brings in keys written elsewhere; a reviewer should see them.",
        wrong="defaults: {<<: {alpha: 0.05}, gamma: 1e-9}",
        right="defaults: {alpha: 0.05, gamma: 1e-9}",
    ),
    "DPQL112": Code(
        title="a tag is used",
        cause="Types come from the spec's own keys, never from YAML tags.",
        wrong="epsilon: !!float 1.0",
        right="epsilon: 1.0",
    ),
    "DPQL113": Code(
        title="there is a second document or a directive",
        cause="One file holds one spec, so that it has one meaning and one digest.",
        wrong="%YAML 1.2\n---\ndpql: 1",
        right="dpql: 1",
    ),
    "DPQL114": Code(
        title="the text is nested too deeply",
        cause="A spec needs five levels; more than 32 are refused unread.",
        wrong=f"by: {'[' * _DEEP}district{']' * _DEEP}",
        right="by: [district]",
    ),
    "DPQL115": Code(
        title="the text has too many parts",
        cause="More than 50,000 keys, values and lists are refused.",
        wrong="a category with a hundred thousand keys",
        right="a category with the keys that are published",
    ),
    "DPQL116": Code(
        title="a key is not a word",
        cause="YAML lets lists and blocks be keys; the language does not.",
        wrong="defaults: {[alpha, gamma]: 0.05}",
        right="defaults: {alpha: 0.05, gamma: 1e-9}",
    ),
    "DPQL117": Code(
        title="a value has line breaks in it",
        cause="Every value is one line. A folded text (`>`) is one line too.",
        wrong="purpose: |\n  Monthly wage tables\n  by district.",
        right="purpose: Monthly wage tables by district.",
    ),
    "DPQL118": Code(
        title="a mapping of Python holds what no spec can",
        cause=(
            "0.1 of Python is not one tenth, and a budget is exact. Texts, whole "
            "numbers, Fractions and Decimals say what they mean."
        ),
        wrong='dpql.load({"privacy": {"epsilon": 0.1}})',
        right='dpql.load({"privacy": {"epsilon": "0.1"}})',
    ),
    "DPQL120": Code(
        title="the query text is not in the grammar",
        cause="A word or sign is out of place; the hint says what could stand there.",
        wrong="headcount = count rows by spend accuracy 60",
        right="headcount = count rows by district spend accuracy 60",
    ),
    "DPQL121": Code(
        title="SQL syntax: dpql writes `mean dep_delay by carrier`",
        cause="The text looks like SQL, Python or YAML; the hint says how it is here.",
        wrong="where: age >= 25 && age <= 54",
        right="where: age between 25 and 54",
    ),
    "DPQL122": Code(
        title="the expression is not in the grammar",
        cause=(
            "A `where` is a comparison, or several that are joined by and, or, not; "
            "their operands are columns, constants and what functions make of them."
        ),
        wrong="where: age between 25",
        right="where: age between 25 and 54",
    ),
    "DPQL124": Code(
        title="a word of the language stands where a name should",
        cause="Reserved words name columns only in backquotes.",
        wrong="headcount = count rows by group spend accuracy 60",
        right="headcount = count rows by district spend accuracy 60",
    ),
    "DPQL125": Code(
        title="the expression is nested too deeply",
        cause=(
            "More than 32 levels of `not`, functions and operators are refused. A sum "
            "has one level for each `+`; a derived column begins anew."
        ),
        wrong=f"where: {'not ' * _DEEP}age == 18",
        right="where: age between 25 and 54",
    ),
    "DPQL126": Code(
        title="a condition in YAML has a remark in it",
        cause=(
            "YAML joins the lines of a value, so that `--` would silence the rest of "
            "the filter. It starts a remark in query text only."
        ),
        wrong="where: age between 25 and 54 -- of working age",
        right="where: age between 25 and 54",
    ),
}
