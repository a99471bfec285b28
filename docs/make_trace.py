"""Makes src/doctord/dataset/calltrace.py and the tables of docs/reference/trace.md of what native/calltrace declares.

`python docs/make_trace.py` writes them; a test fails when they do not say what the native library says.
"""

import keyword
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from doctord._native import trace_parts

ROOT: Final = Path(__file__).parents[1]
BEGINS: Final = "<!-- Made by docs/make_trace.py of what native/calltrace declares: change it there. -->\n"
ENDS: Final = "<!-- By hand again. -->\n"
MODULE: Final = '''"""A call trace, analysed: the types of what the native reader tells of it.

Made by docs/make_trace.py of what native/calltrace declares: change it there. The keys: docs/reference/trace.md.
Seconds are floats; null is what the trace does not show, never zero.
"""

from typing import TypedDict
'''
WORDS: Final = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


class Key(NamedTuple):
    """A key of a part: its type in Python's words, and what it means."""

    name: str
    kind: str
    meaning: str


class Part(NamedTuple):
    """A part of what a trace tells."""

    name: str
    about: str
    keys: list[Key]


PARTS: Final = {name: Part(name, about, [Key(*key) for key in keys]) for name, about, keys in trace_parts()}


def types() -> str:
    """The module of types, parts that others need first."""
    return MODULE + "".join(_class(part) for part in PARTS.values())


def _class(part: Part) -> str:
    if any(keyword.iskeyword(key.name) for key in part.keys):  # such a key cannot be an attribute
        keys = "".join(f'        "{key.name}": {key.kind},\n' for key in part.keys)
        return f'\n\n# {part.about}\n{part.name} = TypedDict(\n    "{part.name}",\n    {{\n{keys}    }},\n)\n'
    keys = "".join(f"    {key.name}: {key.kind}\n" for key in part.keys)
    return f'\n\nclass {part.name}(TypedDict):\n    """{part.about}"""\n\n{keys}'


def page() -> str:
    """The reference, its tables made anew; what stands around them is written by hand."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGINS)
    return f"{before}{BEGINS}{''.join(_sections())}{ENDS}{rest.partition(ENDS)[2]}"


def _sections() -> Iterator[str]:
    shown = set[str]()
    for key in PARTS["Trace"].keys:
        part = _part(key.kind)
        yield f"\n## {key.name}{_brackets(key.kind)}\n{key.meaning}\n"
        if part and part.name not in shown:
            shown.add(part.name)
            yield "\n| key | type | meaning |\n|---|---|---|\n"
            yield from (f"| `{name}` | {kind} | {meaning} |\n" for name, kind, meaning in _rows(part))
    yield "\n"


def _rows(part: Part, above: str = "") -> Iterator[Key]:
    """Keys of a part and of the parts in it, each with its path."""
    for key in part.keys:
        path = f"{above}{key.name}{_brackets(key.kind)}"
        inner = _part(key.kind)
        if inner:
            yield from _rows(inner, f"{path}.")
        else:
            yield Key(path, _words(key.kind), key.meaning)


def _part(kind: str) -> Part | None:
    """The part that a type is of, be it a list of it."""
    named = re.findall(r"\w+", kind)
    return next((PARTS[name] for name in named if name in PARTS), None)


def _brackets(kind: str) -> str:
    return "[]" if kind.startswith("list[") else ""


def _words(kind: str) -> str:
    """A type for people.

    >>> _words("list[str] | None"), _words("float")
    ('strings or null', 'number')
    """
    one, _, null = kind.partition(" | ")
    many = one.startswith("list[")
    word = WORDS[one.removeprefix("list[").removesuffix("]")]
    return f"{word}{'s' if many else ''}{' or null' if null else ''}"


PAGE: Final = ROOT / "docs" / "reference" / "trace.md"
TYPES: Final = ROOT / "src" / "doctord" / "dataset" / "calltrace.py"

if __name__ == "__main__":
    TYPES.write_text(types(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
