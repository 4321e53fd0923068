"""The manual of DPQL6xx: a report, an approval or a key cannot be trusted."""

from __future__ import annotations

from dpql.manual.code import Code

TRUST: dict[str, Code] = {
    "DPQL600": Code(
        title="the file is not an envelope in canonical form",
        cause=(
            "A signed file has one spelling, so that no byte of it can change "
            "unnoticed: no duplicate or unknown members, nothing after the end."
        ),
        wrong="a release.dsse.json that an editor laid out anew",
        right="the release.dsse.json that `dpql run` wrote",
    ),
    "DPQL601": Code(
        title="a signature does not belong to these bytes",
        cause="The content was altered, or the signature was taken from another file.",
        wrong="a report with the signature of last year's report",
        right="the report as it was published",
    ),
    "DPQL602": Code(
        title="a signature is by a key that is not trusted",
        cause=(
            "Keys are trusted by the verifier's own file; nothing in a report can "
            "add one."
        ),
        wrong="a trust file without the signer's key",
        right='steward@example.org namespaces="dpql-release" ssh-ed25519 AAAA...',
    ),
    "DPQL603": Code(
        title="a key signed what it has no role for",
        cause=(
            "The trust file gives roles: `dpql-release` signs releases, `dpql-plan` "
            "approves plans. A key without `namespaces` has no role."
        ),
        wrong='officer@example.org namespaces="dpql-plan" ...  (signs a release)',
        right='officer@example.org namespaces="dpql-plan,dpql-release" ...',
    ),
    "DPQL604": Code(
        title="a key was not valid on that day",
        cause="The date of the report is outside valid-after and valid-before.",
        wrong='valid-before="20260101"  (and a report of 2026-11-16)',
        right='valid-before="20270601"',
    ),
    "DPQL605": Code(
        title="the signed file is of another kind",
        cause=(
            "A release, a rehearsal and an approval are signed as what they are, and "
            "never stand for one another."
        ),
        wrong="dpql verify rehearsals/2026-11-16-income",
        right="dpql verify releases/2026-11-16-income",
    ),
    "DPQL606": Code(
        title="the signed content is not a statement that dpql writes",
        cause="The content is of another format, or not in its one spelling.",
        wrong='"date": "16.11.2026"',
        right='"date": "2026-11-16"',
    ),
    "DPQL607": Code(
        title="the plan inside the report is refused",
        cause=(
            "A plan carries the spec it came from, and everything in it is derived "
            "again. Something differs, or more is spent than allowed."
        ),
        wrong="a report whose plan states a smaller noise than its spec gives",
        right="a report on a plan that `dpql plan` made",
    ),
    "DPQL608": Code(
        title="a claim of the report is not what its numbers give",
        cause=(
            "Values, intervals, accuracies, words and totals follow from the plan and "
            "the noisy numbers. One of them does not."
        ),
        wrong='"value": "1000"  (and noisy numbers that give 748)',
        right='"value": "748"',
    ),
    "DPQL609": Code(
        title="the noise cannot produce one of the noisy numbers, or a key",
        cause=(
            "Outcomes lie on a grid and inside a clamp that the plan determines. Keys "
            "that were found are printed words in the order of their texts, each once, "
            "with counts that reach the threshold of the plan."
        ),
        wrong='"noisy": ["1/3"]  (a count, on whole numbers)',
        right='"noisy": ["748"]',
    ),
    "DPQL610": Code(
        title="a file beside the report is not the one that was signed",
        cause=(
            "A table, the dictionary or report.html is missing or was altered. "
            "The page is signed since format 2; that of dpql 0.1 was not."
        ),
        wrong="a release.csv that a spreadsheet saved again",
        right="the release.csv as it was published",
    ),
    "DPQL611": Code(
        title="the plan is not approved as it must be",
        cause=(
            "The dataset asks for approvals by different reviewers; one is missing, is "
            "for another plan, or has ended."
        ),
        wrong="an approval made before the plan was changed",
        right="dpql approve plan.json --key officer --until 2026-12-31",
    ),
    "DPQL612": Code(
        title="the ledger does not confirm the report",
        cause=(
            "The entry that the report names is not in the chain, states other "
            "amounts, or its run ended in another report; or the report was made "
            "without a ledger."
        ),
        wrong="a ledger put back from last week's backup",
        right="the ledger that the release was debited from",
    ),
    "DPQL613": Code(
        title="the report is not signed by the signer that the plan names",
        cause="The spec names its signer under `report`, and reviewers relied on it.",
        wrong="report: {signer: steward}  (signed by somebody else)",
        right="report: {signer: steward}  (signed by steward@example.org)",
    ),
    "DPQL614": Code(
        title="the report is on another plan than expected",
        cause="The digest of the plan inside differs from that of the plan given.",
        wrong="a report on last year's plan",
        right="a report on the plan that was reviewed",
    ),
    "DPQL615": Code(
        title="too few different keys signed",
        cause="A threshold counts keys, not signatures; one key signs once.",
        wrong="one signature where two signers are asked for",
        right="two signatures by different keys",
    ),
    "DPQL616": Code(
        title="a signer approved its own plan",
        cause=(
            "Approval and release are the work of two people. The key that approved "
            "the plan also signs the release, or both keys have the same holder in "
            "the trust file."
        ),
        wrong="dpql approve plan.json --key steward  (and steward signs the release)",
        right="dpql approve plan.json --key officer  (and steward signs the release)",
    ),
    "DPQL617": Code(
        title="an approval is for another dataset",
        cause=(
            "An approval names the dataset that its plan may run on, and counts for no "
            "other. One that dpql 0.1 made names none: it still counts in the reports "
            "of 0.1, but allows no new run."
        ),
        wrong="dpql run plan.json --dataset payroll  (approved for wages)",
        right="dpql approve plan.json --key officer --dataset payroll",
    ),
    "DPQL620": Code(
        title="there is no key in the file",
        cause="Keys are Ed25519, in PKCS#8 or plain OpenSSH form.",
        wrong="an RSA key",
        right="dpql keys new steward",
    ),
    "DPQL621": Code(
        title="others may read the key file",
        cause="Whoever can read a private key can sign with it.",
        wrong="-rw-r--r-- steward",
        right="-rw------- steward",
    ),
    "DPQL622": Code(
        title="the passphrase does not open the key",
        cause=(
            "The passphrase is wrong or missing. OpenSSH keys with a passphrase are "
            "not read."
        ),
        wrong="an empty passphrase",
        right="the passphrase given to `dpql keys new`",
    ),
    "DPQL623": Code(
        title="the key cannot be written",
        cause="The name is taken, and keys are never overwritten; or the disk refuses.",
        wrong="dpql keys new steward  (twice)",
        right="dpql keys new steward-2027",
    ),
    "DPQL624": Code(
        title="the trust file is missing or cannot be understood",
        cause=(
            "It is missing or no text, or a line is at fault: every line is a "
            "principal, options, and a key. Unknown options, wildcards and "
            "certificates are refused: guessing would be trusting."
        ),
        wrong="* ssh-ed25519 AAAA...",
        right='steward@example.org namespaces="dpql-release" ssh-ed25519 AAAA...',
    ),
    "DPQL630": Code(
        title="a release folder cannot be read or written",
        cause=(
            "There is no report at that path, or its name is taken by something else, "
            "or the disk is full. A report that was sealed is in the ledger: running "
            "the plan again writes the last one, or mends its folder, at no cost, and "
            "`dpql ledger fetch` writes any."
        ),
        wrong="--out releases/last-week",
        right="--out releases/2026-11-16-income",
    ),
}
