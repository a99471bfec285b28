"""Expressions that are compiled later are right all the same."""

import ast
import copy
import gc
import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import doctord
from doctord.regex import _Later, regex

SOURCES = Path(doctord.__file__).parent


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


def test_a_copy_is_another_of_the_same() -> None:
    number = regex("[0-9]+")
    for other in (copy.deepcopy(number), pickle.loads(pickle.dumps(number))):  # noqa: S301 - our own
        assert other.findall("10 of 16") == ["10", "16"]


def test_no_module_compiles_an_expression_when_it_is_imported() -> None:
    calls = {str(path.relative_to(SOURCES)): list(at_import(path)) for path in SOURCES.rglob("*.py")}
    assert {path: lines for path, lines in calls.items() if lines} == {}


def test_a_call_at_import_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import re\nA = (\n    re.compile('a'),\n)\ndef f():\n    return re.compile('b')\n")
    assert list(at_import(tmp_path / "a.py")) == [3]


def at_import(path: Path) -> Iterator[int]:
    """Lines of a module that call `re.compile` outside any function."""
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            yield node.lineno
        waiting += ast.iter_child_nodes(node)
