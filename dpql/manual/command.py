"""Codes 8xx: a command cannot do what it is asked."""

from __future__ import annotations

from dpql.errors import Code

COMMAND: dict[str, Code] = {
    "DPQL800": Code(
        title="the system refused",
        cause=(
            "The operating system refused something that has no code of its own: a "
            "full disk, a missing permission, a file that went away. Whatever was "
            "being written is not there in part: files appear wholly or not at all."
        ),
    ),
    "DPQL801": Code(
        title="the file cannot be written",
        cause="The folder is missing or read-only, or the disk is full.",
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
}
