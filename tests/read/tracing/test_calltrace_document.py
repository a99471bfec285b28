"""What a trace tells has the keys that `doctord.dataset.calltrace` and docs/reference/trace.md say, and no others."""

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from doctord.analyse.traces.calls_compared import Comparison
from doctord.dataset.calltrace import Loop, Trace
from doctord.read.tracing.calltrace import read

DOCS = Path(__file__).parents[3] / "docs"
MADE = runpy.run_path(str(DOCS / "make_trace.py"))
PAGE = DOCS / "reference" / "trace.md"
FREE = ("folded",)  # keys from the data
ELSEWHERE = ("findings[]", "before")  # documents of their own


def server(passes: int) -> str:
    """`strace -f -ttt -T` of a server that forks for each client, whose child asks the same thing again and again."""
    lines: list[tuple[float, str]] = []
    for number in range(passes):
        at, child = 1_700_000_000 + number * 0.5, 200 + number
        lines += [
            (at, f"100 {at:.6f} accept4(3, {{sa_family=AF_INET, sin_port=htons(4711)}}, [16], 0) = 4 <0.100000>"),
            (at + 0.1001, f"100 {at + 0.1001:.6f} pipe2([5, 6], 0) = 0 <0.000010>"),
            (at + 0.1002, f"100 {at + 0.1002:.6f} clone(child_stack=NULL, flags=SIGCHLD) = {child} <0.001000>"),
            (at + 0.1013, f"100 {at + 0.1013:.6f} read(5, \"x\", 1) = 1 <0.050000>"),
            (at + 0.16, f"{child} {at + 0.16:.6f} +++ exited with 0 +++"),
            (at + 0.161, f"100 {at + 0.161:.6f} wait4(-1, NULL, 0, NULL) = {child} <0.000010>"),
            (at + 0.162, f"100 {at + 0.162:.6f} close(4) = 0 <0.000010>"),
            (at + 0.163, f"100 {at + 0.163:.6f} mmap(NULL, 65536, PROT_READ|PROT_WRITE, "
                         "MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000 <0.000010>"),
        ]  # fmt: skip
        asked = [at + 0.1015 + i * 0.001 for i in range(40)]
        lines += [(moment, f"{child} {moment:.6f} getppid() = 100 <0.000900>") for moment in asked]
        lines.append((at + 0.15, f'{child} {at + 0.15:.6f} write(6, "x", 1) = 1 <0.000010>'))
        lines.append((at + 0.1505, f'{child} {at + 0.1505:.6f} open("/none", O_RDONLY) = -1 ENOENT (No) <0.000010>'))
    return "".join(f"{line}\n" for _, line in sorted(lines)) + "100 what is this\n"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    file = tmp_path_factory.mktemp("document") / "log"
    file.write_text(server(12))
    return read([file], stacks=True)


def keys_of_type(kind: Any, path: str = "") -> Iterator[str]:
    """Paths of all leaves of a typed dictionary."""
    if get_origin(kind) in (Union, UnionType):
        for part in get_args(kind):
            yield from keys_of_type(part, path)
    elif get_origin(kind) is list:
        yield from keys_of_type(get_args(kind)[0], f"{path}[]")
    elif is_typeddict(kind) or hasattr(kind, "__dataclass_fields__"):
        for name, part in get_type_hints(kind).items():
            yield from keys_of_type(part, f"{path}.{name}".lstrip("."))
    elif get_origin(kind) is tuple:
        yield from keys_of_type(get_args(kind)[0], f"{path}[]")
    elif kind is not type(None):
        yield path


def keys_of_value(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, dict) and path not in FREE:
        for name, part in value.items():
            yield from keys_of_value(part, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for part in value:
            yield from keys_of_value(part, f"{path}[]")
    else:
        yield path


def keys_of_page() -> set[str]:
    """Keys of the tables, each below the heading of its section."""
    found = set()
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title = section.splitlines()[0]
        rows = re.findall(r"^\| (`[^|]+) \|", section, flags=re.MULTILINE)
        names = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
        found |= {f"{title}.{name}" for name in names if " " not in title} or {title}
    return found


@pytest.mark.parametrize("made", ["types", "page"])
def test_types_and_reference_are_those_that_the_native_library_declares(made: str) -> None:
    assert MADE[made.upper()].read_text(encoding="utf-8") == MADE[made](), "run `make docs`"


def test_a_real_document_has_no_other_keys_than_its_type(trace: Trace) -> None:
    typed = {path.removesuffix("[]") for path in keys_of_type(Trace)}
    known = typed | {path.rpartition(".")[0].removesuffix("[]") for path in typed}
    assert {path for path in keys_of_value(trace) if path.removesuffix("[]") not in known} == set()


def test_a_real_document_fills_every_part(trace: Trace) -> None:
    assert trace["loop"]
    assert [part for part in ("steps", "path", "waits") if not trace["loop"][part]] == []
    for part in ("calls", "errors", "processes", "targets", "repetitions", "memory", "births", "timeline", "folded"):
        assert trace[part], part
    assert trace["trace"]["skipped"][0]["lines"] == 1
    assert set(trace["loop"]) == set(get_type_hints(Loop))


def test_every_key_is_documented_and_every_documented_key_is_there() -> None:
    typed = {path for path in keys_of_type(Trace) if not path.startswith("loops[]")}
    compared = {f"comparison.{path}" for path in keys_of_type(Comparison)}
    documented = {path for path in keys_of_page() if not path.startswith(("loops[]", "How long", *ELSEWHERE))}
    assert documented == typed | compared
