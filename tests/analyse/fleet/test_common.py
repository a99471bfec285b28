import pytest

from doctord.analyse.fleet.common import at_least, common_label

ARRAY = {f"db{number:03}": {"array": f"ams-{number // 40}", "site": "ams"} for number in range(200)}
ILL = {f"db{number:03}" for number in range(80, 120)}


def test_what_all_the_ill_have_and_nobody_else() -> None:
    found = common_label(ILL, ARRAY)
    assert found is not None
    assert (found.label, found.value) == ("array", "ams-2")
    assert (found.ill, found.hosts, found.ill_others, found.others) == (40, 40, 0, 160)
    assert found.chance < 1e-30


def test_what_everybody_has_tells_nobody_apart() -> None:
    assert common_label(ILL, {host: {"site": "ams"} for host in ARRAY}) is None


def test_a_few_ill_ones_elsewhere_do_not_hide_it() -> None:
    found = common_label(ILL | {"db001", "db150"}, ARRAY)
    assert found is not None
    assert (found.value, found.ill, found.ill_others) == ("ams-2", 40, 2)


def test_scattered_ones_have_nothing_in_common() -> None:
    assert common_label({f"db{number:03}" for number in range(0, 200, 20)}, ARRAY) is None


def test_two_are_too_few_to_tell() -> None:
    two = {"a": {"array": "1"}, "b": {"array": "1"}, **{f"c{number}": {"array": "2"} for number in range(100)}}
    assert common_label({"a", "b"}, two) is None


def test_the_tail_is_that_of_drawing_without_putting_back() -> None:
    assert at_least(0, 5, 10, 40) == pytest.approx(1.0)
    # Of 40 with 10 marked, 5 are drawn: 1 - C(30, 5) / C(40, 5).
    assert at_least(1, 5, 10, 40) == pytest.approx(1 - 142506 / 658008)
