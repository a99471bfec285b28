from pathlib import Path

from doctord.app.incidents.known import incident_of, resembled_now
from doctord.app.incidents.library import keep
from doctord.app.source import Recorded
from heard import Heard
from incident_recordings import BEGIN, END, dataset, lake, moment


def test_what_is_looked_at_now_is_held_against_the_past_in_the_lake(tmp_path: Path) -> None:
    first = lake(tmp_path / "first")
    keep(tmp_path / "library", [incident_of(Recorded(first), moment(BEGIN), moment(END), "row_locks")])
    past = lake(tmp_path / "past", event=None, seed=4)
    now = dataset(seed=5, begin=BEGIN, end=END).between(moment(BEGIN), moment(END))
    watcher = Heard()
    found = resembled_now(now, past, tmp_path / "library", watcher)
    assert found
    assert [(one.incident.cause, round(one.alike, 1)) for one in found.alike] == [("row_locks", 0.9)]
    assert watcher.notes == []


def test_without_a_past_nothing_is_said_of_it(tmp_path: Path) -> None:
    first = lake(tmp_path / "first")
    keep(tmp_path / "library", [incident_of(Recorded(first), moment(BEGIN), moment(END), "row_locks")])
    empty = lake(tmp_path / "empty", event=None, seconds=5)
    watcher = Heard()
    now = dataset(begin=BEGIN, end=END).between(moment(BEGIN), moment(END))
    assert resembled_now(now, empty, tmp_path / "library", watcher) is None
    assert watcher.notes[0].startswith("not held against the incidents that are kept: nothing tells what is usual")
    assert resembled_now(now, tmp_path / "none", tmp_path / "library", watcher) is None
    assert resembled_now(now, empty, tmp_path / "no library", watcher) is None


def test_a_library_that_is_none_costs_no_diagnosis(tmp_path: Path) -> None:
    (tmp_path / "library").write_text("a file")
    watcher = Heard()
    now = dataset(begin=BEGIN, end=END).between(moment(BEGIN), moment(END))
    assert resembled_now(now, lake(tmp_path / "lake", event=None), tmp_path / "library", watcher) is None
    assert watcher.notes == [f"not held against the incidents that are kept: {tmp_path / 'library'}: Not a directory"]
