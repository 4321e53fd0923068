"""The manual of DPQL7xx: the ledger refuses."""

from __future__ import annotations

from dpql.manual.code import Code

BUDGET: dict[str, Code] = {
    "DPQL700": Code(
        title="there is no ledger at that location",
        cause=(
            "A ledger is made by its owner, never by a run. The file of a ledger has "
            "one name: a link to it is not followed, and a second hard link is refused."
        ),
        wrong="--ledger missing.sqlite",
        right="dpql ledger open wages --epsilon 4 --unit person_id",
    ),
    "DPQL701": Code(
        title="the dataset is not open in the ledger",
        cause="The owner opens a dataset with a cap before anything is spent on it.",
        wrong="a run on a dataset that nobody opened",
        right="dpql ledger open wages --epsilon 4 --unit person_id",
    ),
    "DPQL702": Code(
        title="the ledger or the dataset exists already",
        cause="A dataset is opened once; opening it again would be a fresh budget.",
        wrong="dpql ledger open wages --epsilon 4 --unit person_id  (twice)",
        right="dpql ledger raise-cap wages --epsilon 6",
    ),
    "DPQL703": Code(
        title="the run does not fit the budget",
        cause=(
            "What is spent or held back, and this plan, exceed the cap together. What "
            "a killed run held back is given back by `dpql ledger recover`."
        ),
        wrong="a plan of ε = 1 where 1/2 is left",
        right="a plan of ε = 1/2",
    ),
    "DPQL704": Code(
        title="the plan protects another unit than the budget",
        cause=(
            "The owner says who is protected and between which neighbours. Epsilons of "
            "different promises do not add up."
        ),
        wrong="unit: row  (and a budget for person_id)",
        right="unit: person_id",
    ),
    "DPQL705": Code(
        title="the ledger was altered",
        cause=(
            "Every entry carries the hash of the one before it. A row was changed, "
            "moved, added or taken out."
        ),
        wrong="a ledger edited by hand",
        right="the ledger as dpql wrote it",
    ),
    "DPQL706": Code(
        title="the ledger is older than what was seen of it",
        cause=(
            "A published release, the witness beside the ledger, or what this user's "
            "dpql remembers below XDG_STATE_HOME (or ~/.local/state) knows an entry "
            "that the ledger does not have: an old copy was put back, a copy was used "
            "beside the original, or the chain was rewritten. Where the newest copy is "
            "lost for good, the safe reading is that the whole budget is spent."
        ),
        wrong="a ledger restored from a backup",
        right="the newest copy of the ledger",
    ),
    "DPQL707": Code(
        title="another run is writing to the ledger",
        cause="The wait for the other one is bounded, and has ended.",
        wrong="a transaction left open by another program",
        right="the same command, a moment later",
    ),
    "DPQL708": Code(
        title="the ledger cannot be read or written",
        cause=(
            "The disk is full, a permission is missing, or the file is damaged; or the "
            "server is set up not to sync what it writes."
        ),
        wrong="a ledger on a read-only disk",
        right="a ledger that its owner can write",
    ),
    "DPQL709": Code(
        title="the run is over, or not at that stage",
        cause=(
            "A run goes from reserved to drawing to released. It was ended by "
            "`ledger recover`, has ended already, or there is no such run or release."
        ),
        wrong="recovering a run that is still alive",
        right="recovering runs when none is under way",
    ),
    "DPQL710": Code(
        title="a name or an amount is out of range",
        cause=(
            "Names are letters, digits, `.`, `_` and `-`. A cap is above 0 and is "
            "raised, never lowered."
        ),
        wrong="dpql ledger raise-cap wages --epsilon 2  (the cap is 4)",
        right="dpql ledger raise-cap wages --epsilon 6",
    ),
    "DPQL711": Code(
        title="a stored report is missing or altered",
        cause=(
            "The ledger stores every report and its tables under their hashes; one "
            "differs, and what the report gives today has another hash too."
        ),
        wrong="a ledger whose reports were taken out",
        right="the ledger as dpql wrote it",
    ),
    "DPQL712": Code(
        title="tables or triggers of the ledger were altered",
        cause="The triggers that refuse changes must be there before anything is read.",
        wrong="DROP TRIGGER entry_update",
        right="the ledger as dpql made it",
    ),
    "DPQL713": Code(
        title="the package for PostgreSQL is missing",
        cause="A ledger on a server is reached through psycopg.",
        wrong="--ledger postgresql://server/budgets  (without psycopg)",
        right="pip install 'dpql[postgres]'",
    ),
    "DPQL714": Code(
        title="the witness of the ledger cannot be used",
        cause=(
            "A file that remembers the newest entries is damaged or not writable. One "
            "lies beside a ledger in a file; another, the only one of a ledger on a "
            "server, below XDG_STATE_HOME (or ~/.local/state) in dpql/ledgers."
        ),
        wrong="a witness file edited by hand",
        right="the witness file as dpql wrote it",
    ),
    "DPQL715": Code(
        title="the approved runs are used up",
        cause=(
            "Every approval says how often its plan may be run, from the first run on: "
            "a new one for 2 runs allows one more after the first. Runs on every "
            "dataset of the ledger count. A killed run counts until `dpql ledger "
            "recover` gives it back."
        ),
        wrong="dpql run plan.json --again  (approved for one run)",
        right="dpql approve plan.json --key officer --runs 2 --out more.approval.json",
    ),
    "DPQL716": Code(
        title="the data belong to another budget",
        cause=(
            "The owner bound the data to a dataset, or the first run on it did. "
            "Another name in a spec, a link, a pattern, a folder or a `file:` address "
            "that leads to the same files buys no fresh budget. Where the data have "
            "moved or a new file came, `dpql ledger bind` says so in the chain, and "
            "the budget goes on. An owner who means to give the same data a second "
            "budget says so with `--shared`, and every later release of both says it."
        ),
        wrong="--dataset other --data wages=data/2026.parquet",
        right="--dataset wages --data wages=data/2026.parquet",
    ),
    "DPQL717": Code(
        title="there is nothing to share",
        cause=(
            "`dpql ledger bind --shared` gives data that another dataset has a second "
            "budget. No other dataset of the ledger has these."
        ),
        wrong="dpql ledger bind wages --data wages.csv --shared",
        right="dpql ledger bind wages --data wages.csv",
    ),
    "DPQL718": Code(
        title="the budget is pure, and the plan is not",
        cause=(
            "A dataset that was opened without a delta promises that no release about "
            "it ever exceeds its epsilon. A release with a delta would break that."
        ),
        wrong="privacy: {epsilon: 1, delta: 1e-9}  (on a budget without a delta)",
        right="privacy: {epsilon: 1, delta: 0}",
    ),
}
