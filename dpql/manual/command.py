"""The manual of DPQL8xx: a command cannot do what it is asked."""

from __future__ import annotations

from dpql.manual.code import Code

COMMAND: dict[str, Code] = {
    "DPQL800": Code(
        title="the system refused",
        cause=(
            "The operating system refused something that has no code of its own: a "
            "full disk, a missing permission, a file that went away. Whatever was "
            "being written is not there in part: files appear wholly or not at all."
        ),
        wrong="dpql show releases/2026-11-16-wages > /mnt/full/wages.txt",
        right="dpql show releases/2026-11-16-wages > wages.txt",
    ),
    "DPQL801": Code(
        title="the file cannot be written",
        cause=(
            "The folder is missing or read-only, or the disk is full; or the name is "
            "that of another approval, and approvals are never overwritten."
        ),
        wrong="dpql plan specs/wages.yaml --out nowhere/wages.plan.json",
        right="dpql plan specs/wages.yaml --out specs/wages.plan.json",
    ),
    "DPQL802": Code(
        title="git cannot give the old spec",
        cause=(
            "`--base REF` reads the old spec from git. The folder is no repository, "
            "the reference is unknown, or git is not installed."
        ),
        wrong="dpql diff --base mian specs/wages.yaml",
        right="dpql diff --base main specs/wages.yaml",
    ),
    "DPQL803": Code(
        title="the file is not of a kind that the command reads",
        cause=(
            "A command that takes a plan, a spec or a release was given something "
            "else, or a file that cannot be read."
        ),
        wrong="dpql show photo.png",
        right="dpql show specs/wages.plan.json",
    ),
    "DPQL804": Code(
        title="no spec in the folder",
        cause=(
            "In a folder, *.dpql files count as specs, and *.yaml files that have a "
            "line `dpql: 1`. There is none."
        ),
        wrong="dpql check docs",
        right="dpql check specs",
    ),
    "DPQL805": Code(
        title="the layout is not canonical",
        cause="`dpql fmt --check` found a spec that `dpql fmt` would change.",
        wrong="dpql:   1",
        right="dpql: 1",
    ),
    "DPQL806": Code(
        title="no such page in the manual",
        cause="`dpql explain` knows the error codes, the keys of a spec, some terms.",
        wrong="dpql explain epsilom",
        right="dpql explain epsilon",
    ),
    "DPQL807": Code(
        title="the command was interrupted",
        cause=(
            "Somebody pressed Ctrl-C, or left a question unanswered. A run that had "
            "not begun to draw noise gets its epsilon back; one that had keeps its "
            "debit, and nothing of it is released."
        ),
        wrong="Ctrl-C, and a look at the folder to see how far it came",
        right="dpql ledger show wages",
    ),
    "DPQL810": Code(
        title="there is no such command",
        cause="The first word after `dpql`, or after a group of commands, names one.",
        wrong="dpql plna specs/wages.yaml",
        right="dpql plan specs/wages.yaml",
    ),
    "DPQL811": Code(
        title="there is no such option",
        cause="The command does not know the option; `--help` lists those it knows.",
        wrong="dpql plan specs/wages.yaml --output wages.plan.json",
        right="dpql plan specs/wages.yaml --out wages.plan.json",
    ),
    "DPQL812": Code(
        title="something is missing from the command",
        cause="An argument or an option that the command cannot do without.",
        wrong="dpql approve wages.plan.json",
        right="dpql approve wages.plan.json --key officer",
    ),
    "DPQL813": Code(
        title="a value on the command line does not fit",
        cause=(
            "The option takes numbers, days or words of another kind, or takes none, "
            "or was given none."
        ),
        wrong="dpql approve wages.plan.json --key officer --until tomorrow",
        right="dpql approve wages.plan.json --key officer --until 2027-06-01",
    ),
    "DPQL814": Code(
        title="the options or arguments do not go together",
        cause=(
            "Options that exclude one another, an argument too many, or a question "
            "that nobody is there to answer."
        ),
        wrong="dpql plan specs/wages.yaml --set epsilon=2 --out wages.plan.json",
        right="dpql plan specs/wages.yaml --set epsilon=2",
    ),
    "DPQL820": Code(
        title="dpql.toml is not to be trusted",
        cause=(
            "The file names a key, a ledger and data, so it must be the owner's own: "
            "a plain file of UTF-8 text, no link, that belongs to you (or root; for "
            "root, to whom the folder belongs), and that not everybody may change. It "
            "is looked for in the working directory and the folders above it, never "
            "beside a spec."
        ),
        wrong="chmod 666 dpql.toml",
        right="chmod 644 dpql.toml",
    ),
    "DPQL821": Code(
        title="dpql.toml is not TOML",
        cause="The file has one setting a line, each text in double quotes.",
        wrong="key = steward",
        right='key = "steward"',
    ),
    "DPQL822": Code(
        title="dpql.toml has an unknown setting",
        cause=(
            "The settings are `key`, `trust`, `ledger`, `dataset` and the table "
            "`[data]`, which says where the data of each source are."
        ),
        wrong='signer = "steward"',
        right='key = "steward"',
    ),
    "DPQL823": Code(
        title="a setting of dpql.toml has the wrong form",
        cause=(
            "Every setting is a text on one line. Names of sources and of the dataset "
            "are made of letters, digits, `_`, `-` and `.`. Paths are relative to the "
            "file."
        ),
        wrong='[data]\nwages = ["data/2025.csv", "data/2026.csv"]',
        right='[data]\nwages = "data/*.csv"',
    ),
}
