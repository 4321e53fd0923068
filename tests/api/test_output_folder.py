"""The folder of a release: checked first, never overwritten, mended."""

from __future__ import annotations

import pytest
from api.office import DATASET, Office, code_of

from dpql.api.listener import RunListener
from dpql.api.stored_reports import fetched_report
from dpql.ledger import State
from dpql.reports.file_names import FOLDER


@pytest.mark.parametrize("name", FOLDER)
@pytest.mark.parametrize("harm", ["gone", "altered"])
def test_harmed_folder_is_mended_by_the_next_run(
    office: Office, name: str, harm: str
) -> None:
    """The same plan again costs nothing and leaves the folder as it was signed."""
    office.run()
    folder = office.releases / "one"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / name).unlink()
    if harm == "altered":
        (folder / name).write_bytes(before[name].replace(b"1", b"2", 1))
    done = office.run(frames={})
    assert (done.fresh, done.mended) == (False, (name,))
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert office.verify().digest == done.report.digest
    assert office.run(frames={}).mended == ()
    assert office.states() == [State.RELEASED]


def test_unfinished_folder_of_a_killed_run_goes(office: Office) -> None:
    """What a run left that was killed while it wrote is gone after the next."""
    part = office.releases / ".dpql-release.killed"
    part.mkdir(parents=True)
    (part / "release.csv").write_bytes(b"half")
    office.run()
    assert [path.name for path in office.releases.iterdir()] == ["one"]


def test_folder_that_is_taken_is_left_alone(office: Office) -> None:
    """It is refused before anything is spent, as is a folder below a file."""
    taken = office.releases / "one"
    taken.mkdir(parents=True)
    (taken / "notes.txt").write_text("mine", "utf-8")
    for name in ("one", "one/notes.txt", "one/notes.txt/below"):
        assert code_of(lambda name=name: office.run(name)) == "DPQL630"
        below = {"folder": None, "within": taken / "notes.txt"}
        assert code_of(lambda below=below: office.run(**below)) == "DPQL630"
    assert [path.name for path in taken.iterdir()] == ["notes.txt"]
    assert [path.name for path in office.releases.iterdir()] == ["one"]
    assert office.states() == []


def test_folder_that_is_taken_meanwhile_is_left_alone(office: Office) -> None:
    """Nothing is overwritten; the report is stored, and comes out elsewhere."""
    taken = office.releases / "one"

    class Taking(RunListener):
        def reserved(self, number: int) -> None:
            del number
            taken.mkdir(parents=True)
            (taken / "notes.txt").write_text("mine", "utf-8")

    assert code_of(lambda: office.run(listener=Taking())) == "DPQL630"
    assert [path.name for path in taken.iterdir()] == ["notes.txt"]
    assert office.states() == [State.RELEASED]
    assert not office.run("two").fresh


def test_name_of_its_own_is_chosen_as_it_is_taken(office: Office) -> None:
    """Each release gets a folder; each is found again, and mended where it is."""
    own = {"folder": None, "within": office.releases}
    done = [office.run(again=number > 0, **own) for number in range(3)]
    folders = [one.folder for one in done]
    base = folders[0]
    assert base is not None
    assert base.name.endswith(office.plan.spec.release)
    assert folders[1:] == [base.with_name(f"{base.name}-{n}") for n in (2, 3)]
    (folders[2] / "release.csv").unlink()
    again = office.run(**own)
    assert (again.fresh, again.folder) == (False, folders[2])
    assert again.mended == ("release.csv",)
    for one in done:
        fetched = fetched_report(office.ledger, DATASET, one.report.digest[:16])
        assert fetched == one.report


def test_link_in_place_of_the_folder_is_not_followed(office: Office) -> None:
    """A link at the name of the folder is refused, wherever it leads."""
    elsewhere = office.folder / "elsewhere"
    elsewhere.mkdir()
    office.releases.mkdir()
    (office.releases / "one").symlink_to(elsewhere)
    assert code_of(office.run) == "DPQL630"
    assert list(elsewhere.iterdir()) == []
