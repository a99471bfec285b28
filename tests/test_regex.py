"""Expressions that are compiled later are right all the same."""

import gc
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import doctord
from doctord.regex import _Later, regex


def test_every_expression_of_the_program_compiles() -> None:
    for module in walk_packages(doctord.__path__, "doctord."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    later = [one for one in gc.get_objects() if isinstance(one, _Later)]
    assert len(later) > 500
    assert all(one.pattern for one in later)


def test_an_expression_is_compiled_once_and_does_as_that_of_re() -> None:
    number = regex(r"(?P<digits>[0-9]+)")
    assert (found := number.search("10 of 16")) is not None
    assert found["digits"] == "10"
    assert "search" in vars(number)
    assert number.groupindex == {"digits": 1}
    assert regex(rb"\d").sub(b"", b"a1") == b"a"
    with pytest.raises(AttributeError, match="no_such"):
        _ = number.no_such  # type: ignore[attr-defined]


def test_no_module_compiles_an_expression_when_it_is_imported() -> None:
    sources = (Path(doctord.__file__).parent).rglob("*.py")
    assert [path.name for path in sources if re.search(r"(?m)^\S.*\bre\.compile\(", path.read_text("utf-8"))] == []
