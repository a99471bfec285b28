from pathlib import Path

import pytest

from doctord.app.fleet.hosts import Chosen, hosts_of
from doctord.app.fleet.study import Asked, FleetStudy, study_fleet
from doctord.errors import UserError
from doctord.report.fleet import study as words
from heard import Heard
from here import Here
from incident_recordings import START, lake, moment

BEFORE, AFTER = (f"{moment(a):%FT%TZ}..{moment(b):%FT%TZ}" for a, b in ((0, 100), (100, 200)))
CHANGED = (Chosen(["new-*"]),)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four hosts on which sessions wait after the change, four others that go on as before, one that tells nothing."""
    folder = tmp_path_factory.mktemp("fleet")
    for number in range(4):
        lake(folder / f"new-{number}", event="tuple", begin=100, end=200, seed=number)
        lake(folder / f"old-{number}", event=None, seed=10 + number)
    (folder / "mute" / "sealed" / "cpu").mkdir(parents=True)
    return folder


def found(place: Path, *names: str, changed: tuple[Chosen, ...] = CHANGED) -> FleetStudy:
    hosts = hosts_of(str(place), Chosen(names), None, Heard())
    return study_fleet(str(place), hosts, Asked(BEFORE, AFTER, changed), Here(), Heard())


def test_what_got_worse_where_it_was_changed(place: Path) -> None:
    study = found(place)
    assert study.rollout.verdict == "worse"
    assert study.healthy is False
    assert [host.name for host, _ in study.changed] == [f"new-{number}" for number in range(4)]
    assert [host.name for host, _ in study.failed] == ["mute"]
    assert study.rollout.net is not None
    assert study.rollout.net.ratio is not None
    assert study.rollout.net.ratio > 5
    told = words.render(study)
    assert told.startswith("Worse where it was changed: x ")
    assert "changed 4 hosts: x " in told
    assert "mute  " in told.split("NOT COMPARED")[1]
    document = words.document(study)
    assert (document["verdict"], document["unit"]) == ("worse", "commit")
    assert [one["is_changed"] for one in document["hosts"]] == [True] * 4 + [False] * 4


def test_the_same_change_everywhere_is_none(place: Path) -> None:
    study = found(place, "old-*", changed=(Chosen(["old-0"]), Chosen(["old-1"])))
    assert (study.rollout.verdict, study.healthy) == ("not comparable", None)
    assert "of the changed hosts 2 could be compared" in words.render(study).replace("\n", " ")


def test_somebody_has_to_be_changed_and_somebody_not(place: Path) -> None:
    with pytest.raises(UserError, match=r"no host is new-\*"):
        found(place, "old-*")
    with pytest.raises(UserError, match="no host is site=fra"):
        found(place, changed=(*CHANGED, Chosen(labels={"site": "fra"})))
    with pytest.raises(UserError, match="every one of the 4 hosts was changed"):
        found(place, "new-*")


def test_what_a_changed_host_does_not_tell_any_more_may_be_what_the_change_did(place: Path) -> None:
    study = found(place, changed=(Chosen(["old-*"]), Chosen(["mute"])))
    assert (study.rollout.verdict, study.lost, study.healthy) == ("better", 1, None)
    assert "Of the changed hosts 1 could not be compared: see below" in words.render(study)


def test_the_recordings_begin_where_they_are_thought_to() -> None:
    assert f"{START:%FT%TZ}" in BEFORE
