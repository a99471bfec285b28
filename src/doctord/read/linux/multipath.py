"""multipath.conf of device-mapper-multipath.

It yields `setting`, component `multipath`, named by section and what the block is about: `defaults.rr_min_io`,
`devices.IBM.2145.rr_min_io` (vendor and product), `multipaths.yellow.rr_weight` (alias, else WWID),
`blacklist.devnode`. A keyword that may come several times in its block (devnode, wwid, property, protocol) has its
values joined by `, `. Placeholders of templates (`$name`) are noted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.linux.settings import Setting, setting_rows
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "multipath.conf"
RANK = Rank.NAMED
SECTIONS: Final = "defaults|blacklist|blacklist_exceptions|multipaths|devices|overrides"
SNIFFED: Final = regex(rf"^[ \t]*(?:{SECTIONS})[ \t]*\{{", re.MULTILINE)
KNOWN: Final = regex(
    r"^[ \t]*(?:user_friendly_names|find_multipaths|path_grouping_policy|path_checker|path_selector|rr_min_io(?:_rq)?"
    r"|rr_weight|no_path_retry|failback|polling_interval|devnode|wwid|product|alias)\b",
    re.MULTILINE,
)
OPENS: Final = regex(r"(\w+)\s*\{$")
VALUE: Final = regex(r'(\w+)\s+(?:"([^"]*)"|(\S.*))$')
REPEATED: Final = frozenset({"devnode", "wwid", "property", "protocol"})
NAMED_BY: Final = (("vendor", "product"), ("alias",), ("wwid",))


@dataclass
class Block:
    """A section, or a block in one, with the values read so far, and those that a later line replaced."""

    kind: str
    line: int
    values: dict[str, Setting] = field(default_factory=dict)
    earlier: list[Setting] = field(default_factory=list)

    def put(self, keyword: str, value: str, line: int) -> None:
        """Another value; the last one counts unless the keyword may come several times."""
        before = self.values.get(keyword)
        if before and keyword in REPEATED:
            value = f"{before.value}, {value}"
        elif before:
            self.earlier.append(before)
        self.values[keyword] = Setting(keyword, value, before.line if before and keyword in REPEATED else line)


def sniff(head: str) -> bool:
    """Whether it has a section of this file, and one of its keywords."""
    return bool(SNIFFED.search(head) and KNOWN.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    yield from setting_rows(source, "multipath", _settings(source))


def _settings(source: SourceFile) -> Iterator[Setting]:
    open_blocks: list[Block] = []
    for line, raw in source.lines():
        text = _without_comment(raw).strip()
        if text == "}" and open_blocks:
            yield from _named(open_blocks)
            open_blocks.pop()
        elif begun := OPENS.match(text):
            open_blocks.append(Block(begun[1], line))
        elif (found := VALUE.match(text)) and open_blocks:
            open_blocks[-1].put(found[1], (found[2] if found[2] is not None else found[3]).strip(), line)
        elif text.startswith("$"):
            source.note(f"{text} is a placeholder: what is to stand there is not known")
        elif text:
            source.skip(line, "no keyword with its value")
    while open_blocks:
        source.skip(open_blocks[-1].line, f"the block {open_blocks[-1].kind} is not closed")
        yield from _named(open_blocks)
        open_blocks.pop()


def _without_comment(text: str) -> str:
    """A line up to the first `#` or `!` that begins a word outside of quotes."""
    return re.sub(r'^((?:[^"#!]|"[^"]*"|(?<=\S)[#!])*)[#!].*$', r"\1", text)


def _named(blocks: list[Block]) -> Iterator[Setting]:
    """The values of the innermost block, named by all blocks around them."""
    inner = blocks[-1]
    about = next(
        (by for by in NAMED_BY if inner.kind != blocks[0].kind and any(name in inner.values for name in by)), ()
    )
    named = [inner.values[name] for name in about if name in inner.values]
    names = [setting.value for setting in named]
    path = ".".join([blocks[0].kind, *names])
    if about and len(names) == len(inner.values):  # it names a device, and that is all: one to leave alone
        yield Setting(path, inner.kind, named[-1].line)
    for setting in (*inner.earlier, *inner.values.values()):
        if setting.name not in about:
            yield Setting(f"{path}.{setting.name}", setting.value, setting.line)
