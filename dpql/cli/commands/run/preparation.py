"""All that a run needs, and all that stands in its way, before anything is spent.

Key, trust, ledger, unit, approvals, budget, data and folder are looked at one after the
other; what cannot be used is kept as an obstacle, with the command that cures it.
Of the data no row is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dpql.cli.commands.run.approvals import Approvals
from dpql.cli.inputs.bindings import bound_data, with_location, with_spark
from dpql.cli.inputs.keys import signer_of
from dpql.cli.inputs.project import FILE_NAME, current_project
from dpql.cli.inputs.releases import RELEASES, trust_at
from dpql.cli.ui.exit_codes import UsageFault
from dpql.diagnostics import shown
from dpql.errors import Diagnostic, DpqlError, RunFault

if TYPE_CHECKING:
    from dpql.api.run_request import RunRequest
    from dpql.ledger import Account, Ledger
    from dpql.model.plan import Plan
    from dpql.reports.keys import Signer
    from dpql.reports.trust import Trust

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Preparation:
    """What a run needs, as far as it was found; ``obstacles`` are what was not."""

    path: Path
    plan: Plan
    options: dict[str, Any]
    day: date = field(default_factory=lambda: datetime.now(UTC).date())
    ledger: Ledger | None = None
    account: Account | None = None
    stored: bool = False
    signer: Signer | None = None
    trust: Trust | None = None
    frames: dict[str, object] = field(default_factory=dict, repr=False)
    approvals: tuple[bytes, ...] = ()
    obstacles: list[DpqlError] = field(default_factory=list)

    @property
    def dataset(self) -> str:
        """The owner's name of the data."""
        return self.options["dataset"] or self.plan.spec.data.source

    @property
    def releases(self) -> Path:
        """The folder that releases get a folder of their own in."""
        project = current_project()
        return RELEASES if project is None else project.folder / RELEASES

    def prepare(self) -> None:
        """Look at everything, and keep what stands in the way."""
        self._budget()
        self._people()
        if not self.stored:
            self._data()
            self._rules()
            self._output()

    def require_clear(self) -> None:
        """Raise all obstacles as one fault, of the kind of the first."""
        if not self.obstacles:
            return
        found = [
            self._cured(each) for one in self.obstacles for each in one.diagnostics
        ]
        raise type(self.obstacles[0])(dict.fromkeys(found))

    def request(self) -> RunRequest:
        """Return what is to be run."""
        from dpql.api.run_request import RunRequest

        return RunRequest(
            plan=self.plan,
            frames=self.frames,
            ledger=self.ledger,
            dataset=self.dataset,
            signers=() if self.signer is None else (self.signer,),
            day=self.day,
            trust=self.trust,
            approvals=self.approvals,
            folder=self.options["out"],
            within=self.releases,
            published=(self.releases,),
            again=self.options["again"],
            engine=self.options["engine"],
        )

    def _budget(self) -> None:
        if self.options["no_ledger"]:
            return
        from dpql.ledger import open_ledger

        self.ledger = self._tried(lambda: open_ledger(self.options["location"]))
        ledger = self.ledger
        if ledger is not None:
            self.account = self._tried(lambda: ledger.account(self.dataset))
        account = self.account
        if account is not None and not self.options["again"]:
            self.stored = account.released(self.plan.digest) is not None

    def _people(self) -> None:
        """Find keys and approvals; a release that is stored needs neither."""
        self.trust = self._tried(lambda: trust_at(self.options["trust"]))
        if not self.stored or self.options["key"]:
            self.signer = self._tried(self._signer)
        needed = 0 if self.account is None else self.account.approvals
        found = Approvals(
            plan=self.plan,
            dataset=self.dataset,
            trust=self.trust,
            day=self.day,
            required=self.stored or needed > 0,
        )
        named = self.options["approvals"]
        collected = self._tried(lambda: found.collect(self.path, named))
        self.approvals = collected or ()

    def _signer(self) -> Signer:
        key = self.options["key"]
        if key is None:
            raise UsageFault.of(
                "DPQL812",
                "`--key` is missing",
                hint="give `--key NAME|FILE`, the key that signs, or write "
                f'`key = "NAME"` in {FILE_NAME}; `dpql keys new NAME` makes one',
            )
        return signer_of(key, self.options["passphrase_file"])

    def _data(self) -> None:
        # A command that is written wrongly stops here; a missing binding can wait.
        frames = self._tried(
            lambda: bound_data(self.options["bindings"], self.plan), kind=UsageFault
        )
        if frames is None:
            return
        url = self.options["spark"]
        frames = {name: with_spark(str(x), url) for name, x in frames.items()}
        self.frames = frames
        from dpql.curator.examine import examine

        (location,) = frames.values()
        if _is_remote(str(location)):
            # Text on another machine is fetched as a whole, which is the run's to do.
            return
        from dpql.curator.wall import engines_muted

        try:
            # Java prints what it likes on the stream that it is started with.
            with engines_muted():
                examine(self.plan, frames, engine=self.options["engine"])
        except RunFault as fault:
            self.obstacles.append(with_location(fault, frames))

    def _rules(self) -> None:
        """Ask who may sign, what reviewers allow, and what the ledger allows."""
        from dpql.api.authorisation import authorise, require_signers

        needed = 0 if self.account is None else self.account.approvals
        runs = None
        if self.signer is not None:
            request = self.request()
            before = len(self.obstacles)
            self._tried(lambda: require_signers(request))
            if len(self.obstacles) == before:
                approved = self._tried(lambda: authorise(request, needed=needed))
                runs = None if approved is None else approved.runs
        if self.ledger is None or self.account is None:
            return
        from dpql.ledger.objections import objections

        frame = self.frames.get(self.plan.spec.data.source)
        ledger, account = self.ledger, self.account
        found = self._tried(
            lambda: objections(ledger, account, self.plan, runs=runs, data=frame)
        )
        self.obstacles += found or []

    def _output(self) -> None:
        from dpql.api.output_folder import OutputFolder

        output = OutputFolder(folder=self.options["out"], within=self.releases)
        self._tried(output.refuse_unwritable)

    def _tried(
        self, step: Callable[[], T], kind: type[DpqlError] = DpqlError
    ) -> T | None:
        """Return what a step finds; keep the fault that it raises as an obstacle."""
        try:
            return step()
        except kind as fault:
            self.obstacles.append(fault)
        return None

    def _cured(self, fault: Diagnostic) -> Diagnostic:
        """Return a fault whose hint is a command with the names of this run."""
        hint = cure(fault, self.path, self.plan, self.dataset)
        key = self.options["key"]
        if hint and key:
            name = shown(Path(key).name, limit=200)
            hint = hint.replace("dpql keys new NAME", f"dpql keys new {name}")
        return replace(fault, hint=hint)


def _is_remote(location: str) -> bool:
    return "://" in location and not location.startswith("spark:")


def cure(fault: Diagnostic, path: Path, plan: Plan, dataset: str) -> str | None:
    """Return the hint of a fault with the names of a run filled in."""
    hint = fault.hint
    if hint is None:
        return None
    unit = plan.spec.privacy.unit or "row"
    opened = f"dpql ledger open {shown(dataset)} --epsilon CAP --unit {shown(unit)}"
    if plan.spec.privacy.neighbours != "add_remove":
        opened += f" --neighbours {plan.spec.privacy.neighbours}"
    for general, particular in (
        ("dpql ledger open DATASET --epsilon CAP --unit COLUMN", opened),
        ("dpql approve PLAN", f"dpql approve {shown(str(path), limit=400)}"),
    ):
        hint = hint.replace(general, particular)
    return hint
