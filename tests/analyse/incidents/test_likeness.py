import pytest

from doctord.analyse.incidents.figures import figures_of
from doctord.analyse.incidents.likeness import ALIKE, likeness, mixture
from doctord.analyse.incidents.signature import Change, Signature, mean_of, signature_of
from incident_recordings import BEGIN, END, dataset


def signature(**given: object) -> Signature:
    figures = figures_of(dataset(**given))
    assert figures
    return signature_of(figures, BEGIN, END)


LOCKS, DISK = signature(), signature(event="disk")


def test_the_same_under_twice_the_load_is_alike_and_another_is_not() -> None:
    first, second = likeness(signature(commits=200.0, ill_commits=200.0, seed=7), [DISK, LOCKS])
    assert (first.place, second.place) == (1, 0)
    assert first.alike >= ALIKE > second.alike


def test_it_is_alike_to_itself() -> None:
    assert likeness(LOCKS, [LOCKS])[0].alike == 1.0


def test_too_few_figures_in_common_are_no_likeness() -> None:
    few = dict(list(LOCKS.items())[:5])
    other = {f"{name} of another vendor": change for name, change in LOCKS.items()}
    assert likeness(LOCKS, [few, other]) == []


def figures_named(**given: float) -> Signature:
    return {name: Change(value, value) for name, value in given.items()}


NAMES = "abcdefghij"


def test_two_at_once_are_told_apart() -> None:
    first = {name: Change(0.9 if name in "abc" else 0.0, 1.0) for name in NAMES}
    second = {name: Change(0.9 if name in "def" else 0.0, 1.0) for name in NAMES}
    third = {name: Change(0.9 if name in "ghi" else 0.0, 1.0) for name in NAMES}
    both = {name: Change(0.8 if name in "abcdef" else 0.0, 1.0) for name in NAMES}
    found = mixture(both, [first, second, third])
    assert [part.place for part in found.parts] == [0, 1]
    assert sum(part.share for part in found.parts) == pytest.approx(1)
    assert found.alike > 0.95


def test_no_part_is_less_than_nothing() -> None:
    assert mixture(figures_named(a=1.0), [figures_named(a=-1.0)]).parts == ()
    assert mixture(figures_named(a=1.0), []).parts == ()


def test_the_mean_stands_for_several() -> None:
    assert mean_of([figures_named(a=1.0), figures_named(a=0.5, b=1.0)]) == {
        "a": Change(0.75, 0.75),
        "b": Change(0.5, 0.5),
    }


def test_other_bad_times_are_not_what_is_usual() -> None:
    figures = figures_of(dataset())
    assert figures
    healthy = signature_of(figures, 20, 60, [(BEGIN, END)])
    assert healthy["Application: tuple"] == Change(0.0, 0.0)
