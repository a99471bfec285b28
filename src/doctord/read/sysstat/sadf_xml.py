"""XML of `sadf -x FILE -- SWITCHES`, of any version: an element for each figure's group, one on a line.

It is put into the JSON of `sadf -j`, which says the same, and read as that: tables, names, times and what is left out
are those of sar's text. Restarts become events.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.sysstat.scan import scan
from doctord.regex import regex

NAME = "sadf's XML"
RANK = Rank.NAMED
BEGIN: Final = regex(r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!DOCTYPE sysstat[^>]*>\s*)?<sysstat\b")
TAG: Final = regex(
    r"<(?P<closes>/?)(?P<name>[\w-]+)(?P<more>(?:\s+[\w:-]+=\"[^\"]*\")*)\s*(?P<alone>/?)>(?P<text>[^<]*)"
)
ATTRIBUTE: Final = regex(r"([\w:-]+)=\"([^\"]*)\"")
AROUND: Final = regex(r"\s*(?:<\?xml|<!DOCTYPE|\"http|xmlns|xsi:|<sysstat\b|$)")
NO_ELEMENT: Final = "no element of sadf's XML"
ENOUGH_BYTES: Final = 1 << 20

# What only holds others; and what holds figures that belong together, each in an element or an object of its own.
HOLDERS: Final = frozenset({"network", "psi", "power-management", "timestamp"})
WHOLE: Final = frozenset({"io", "memory", "hugepages"})
# What JSON calls otherwise: the attributes, by element.
RENAMED: Final = {
    "cpu": {"number": "cpu"},
    "disk-device": {"dev": "disk-device"},
    "fchost": {"name": "fchost"},
    "filesystem": {"fsname": "filesystem", "fsused-percent": "%fsused", "ufsused-percent": "%ufsused",
                   "Iused-percent": "%Iused"},
}  # fmt: skip
SECTIONS: Final = {"int-global": "interrupts", "int-proc": "interrupts-by-cpu"}
NO_FIGURES: Final = frozenset({"per", "unit"})

Figures = dict[str, str]


@dataclass(slots=True)
class Document:
    """What is open, and what is known of the moment so far."""

    open: list[str] = field(default_factory=list)
    moment: Figures | None = None
    sections: dict[str, list[Figures]] = field(default_factory=dict)

    def element(self, name: str, figures: Figures, text: str) -> str:
        """Take an element; the JSON that is known by it."""
        if self.moment is None:
            return _outside(name, figures)
        parent = self.open[-1] if self.open else ""
        whole = next((tag for tag in reversed(self.open) if tag in WHOLE), None)
        if whole:
            held = self.sections.setdefault(whole, [{}])[-1]
            held |= figures or {name: text}
        elif figures:
            section = name if parent in HOLDERS else SECTIONS.get(parent, parent)
            self._put(section, {RENAMED.get(name, {}).get(key, key): value for key, value in figures.items()})
        return ""

    def _put(self, section: str, figures: Figures) -> None:
        held = self.sections.setdefault(section, [])
        if "intr" not in figures or "cpu" not in figures:
            held.append(figures)
            return
        cpu = figures["cpu"]
        if not held or held[-1].get("intr") != figures["intr"]:
            held.append({"intr": figures["intr"]})
        held[-1][f"CPU{cpu}" if cpu.isdecimal() else cpu] = figures.get("value", "")

    def ended(self) -> str:
        """The moment with all that it holds, as JSON; nothing where none is open."""
        if self.moment is None:
            return ""
        told = json.dumps({"timestamp": self.moment} | self.sections) + ","
        self.moment, self.sections = None, {}
        return told


def sniff(head: str) -> bool:
    """Whether it begins as sadf's XML does."""
    return bool(BEGIN.match(head)) and "<host " in head


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the document."""
    yield from scan("json", source, _in_pieces(_as_json(source)))


def _in_pieces(lines: Iterator[str]) -> Iterator[bytes]:
    held, size = list[str](), 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size > ENOUGH_BYTES:
            yield ("\n".join(held) + "\n").encode()
            held, size = [], 0
    yield "\n".join(held).encode()


def _as_json(source: SourceFile) -> Iterator[str]:
    """A line of JSON for each line of XML, so that what cannot be used is told with its number."""
    document, opening = Document(), "["
    for number, line in source.lines():
        tags = list(TAG.finditer(line))
        if not tags and not AROUND.match(line):
            source.skip(number, NO_ELEMENT)
        yield opening + "".join(_taken(document, tag) for tag in tags)
        opening = ""
    yield document.ended() + "{}]"


def _outside(name: str, figures: Figures) -> str:
    """What stands between the moments, as JSON: the host, restarts, comments."""
    if name == "host":
        return json.dumps({"nodename": figures.get("nodename", "")}) + ","
    return json.dumps({name: figures}) + "," if name in {"boot", "comment"} else ""


def _taken(document: Document, tag: "re.Match[str]") -> str:
    name = tag["name"]
    if tag["closes"]:
        if name in document.open:
            del document.open[document.open.index(name) :]
        return document.ended() if name == "timestamp" else ""
    figures = {key: unescape(value) for key, value in ATTRIBUTE.findall(tag["more"]) if key not in NO_FIGURES}
    if name == "timestamp":
        before, document.moment = document.ended(), figures
        document.open = [name]
        return before
    told = document.element(name, figures, unescape(tag["text"].strip()))
    if not tag["alone"]:
        document.open.append(name)
    return told
