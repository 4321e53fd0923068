"""The manual of DPQL34x and 35x: dataset files, and files of keys and of pairs."""

from __future__ import annotations

from dpql.manual.code import Code

FILES: dict[str, Code] = {
    "DPQL340": Code(
        title="there is no such dataset file",
        cause=(
            "`data: NAME` stands for what the owner declares in `datasets/NAME.yaml`, "
            "beside `dpql.toml` in the working directory or above it. A spec may "
            "declare its data itself instead: `source`, `rows`, `columns`."
        ),
        wrong="data: wags",
        right="data: wages",
    ),
    "DPQL341": Code(
        title="the name of the dataset file differs from the name in it",
        cause="A dataset has one name: of its file, of the source, in the ledger.",
        wrong="dataset: people",
        right="dataset: wages",
    ),
    "DPQL342": Code(
        title="the spec changes whom the owner protects",
        cause=(
            "Whom the budget of the data protects, and which data sets must look "
            "alike, is the owner's to say. A spec may repeat it and not change it."
        ),
        wrong="unit: row",
        right="unit: person_id",
    ),
    "DPQL343": Code(
        title="the spec lets a unit contribute more than the owner allows",
        cause=(
            "`rows`, `groups` and `total` of a spec, and of each of its statistics, "
            "are at most those of the dataset file."
        ),
        wrong="contributes: {rows: 9, groups: 1}",
        right="contributes: {rows: 2, groups: 1}",
    ),
    "DPQL344": Code(
        title="the spec asks for more than the cap",
        cause="One release cannot spend more than the owner ever spends on the data.",
        wrong="epsilon: 9",
        right="epsilon: 1",
    ),
    "DPQL345": Code(
        title="the spec widens a column of the owner",
        cause=(
            "A spec may take bounds within the owner's, on the same grid, and some of "
            "the owner's keys; where those are private, any keys. It may leave out "
            "`others`. Type, step, unit of measure and nulls stay the owner's."
        ),
        wrong="age: {type: integer, bounds: [0, 200], nulls: drop}",
        right="age: {type: integer, bounds: [18, 65], nulls: drop}",
    ),
    "DPQL346": Code(
        title="a dataset file where a spec belongs",
        cause="A dataset file declares data. A spec names it and asks.",
        wrong="dpql plan datasets/wages.yaml",
        right="dpql plan specs/wages.yaml",
    ),
    "DPQL347": Code(
        title="a dataset file has no text form",
        cause="Dataset files are YAML. Specs in either form may name them.",
        wrong="dpql fmt --to dpql datasets/wages.yaml",
        right="dpql fmt datasets/wages.yaml",
    ),
    "DPQL350": Code(
        title="a file of keys cannot be read",
        cause=(
            "A spec or dataset file names files below its own folder, by a relative "
            "path, so that no spec publishes the lines of any other file. They are "
            "called `.txt`: tables of data and the keys that sign lie there, too."
        ),
        wrong="keys: {file: /etc/hosts}",
        right="keys: {file: keys/carriers.txt}",
    ),
    "DPQL351": Code(
        title="a line of a file is not a key",
        cause=(
            "A file of keys holds one key a line, with no empty lines and no spaces "
            "around a key. A key in double quotes is a text, also if it is a number."
        ),
        wrong="AA, UA, DL",
        right="AA\nUA\nDL",
    ),
    "DPQL352": Code(
        title="a range of keys, or a key that is a number, cannot be used",
        cause=(
            "A range goes from its smaller end to its larger one, within 2^60, and "
            "stands among whole numbers only. It has at most a million keys."
        ),
        wrong="keys: 12..1",
        right="keys: 1..12",
    ),
    "DPQL366": Code(
        title="a file of pairs cannot be used",
        cause=(
            "A line holds a key and its name, separated by a comma or a tab. Keys that "
            "the column does not have are passed over; no key is there twice."
        ),
        wrong="AA; American Airlines",
        right="AA,American Airlines",
    ),
}
