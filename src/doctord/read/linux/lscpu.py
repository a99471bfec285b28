"""lscpu, as text or JSON (-J).

It yields `setting`, component `kernel`, named `lscpu.FIELD` (`lscpu.CPU(s)`, `lscpu.Model name`); of nested fields
the name is their own. Left out: the list of flags.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.linux.settings import Setting, setting_rows
from doctord.read.source import SourceFile

NAME = "lscpu"
RANK = Rank.NAMED
LEFT_OUT: Final = frozenset({"Flags"})
NEEDED: Final = ("Architecture:", "CPU(s):")


def sniff(head: str) -> bool:
    """Whether the architecture and the number of CPUs are told as lscpu does."""
    begin = "".join(head[:200].split())
    lines = {line.strip().partition(":")[0] + ":" for line in head.split("\n", 12)[:12]}
    return begin.startswith('{"lscpu":[') or all(needed in lines for needed in NEEDED)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`.

    Raises:
        UserError: it is JSON, and not whole.
    """
    is_json = source.head.lstrip().startswith("{")
    yield from setting_rows(source, "kernel", _of_json(source) if is_json else _of_text(source))


def _of_text(source: SourceFile) -> Iterator[Setting]:
    for line, text in source.lines():
        name, colon, value = text.partition(":")
        if colon and name.strip() not in LEFT_OUT:
            yield Setting(f"lscpu.{name.strip()}", value.strip(), line)
        elif not colon and text.strip():
            source.skip(line, "not a line of lscpu")


def _of_json(source: SourceFile) -> Iterator[Setting]:
    try:
        yield from _fields(json.loads(source.content())["lscpu"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{source.name}: not the whole JSON of lscpu: {error}", "lscpu -J writes it") from error


def _fields(fields: list[dict[str, Any]]) -> Iterator[Setting]:
    for one in fields:
        name = str(one["field"]).removesuffix(":")
        if one.get("data") is not None and name not in LEFT_OUT:
            yield Setting(f"lscpu.{name}", str(one["data"]), 1)
        yield from _fields(one.get("children", []))
