"""`dmidecode -t memory`: the slots for memory of a machine, and what is in them.

It yields `setting` (component `dmi`): `dimm.LOCATOR` (with the bank's locator behind a slash, where that says more)
with the size in bytes, 0 for an empty slot; the speed at which a module runs as `dimm.LOCATOR.speed_mt_s`.
"""

import re
from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.linux.settings import Setting, setting_rows
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "dmidecode (memory)"
RANK = Rank.NAMED
DEVICE: Final = "Memory Device"
FIELD: Final = regex(r"\s+([A-Z][\w -]*?):\s*(.*?)\s*$")
SIZE: Final = regex(r"(\d+) ?([kMGT])B$")
SPEED: Final = regex(r"(\d+) M(?:T/s|Hz)$")
SCALES: Final = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def sniff(head: str) -> bool:
    """Whether a memory device with its size is in it."""
    return "DMI type 17," in head or bool(re.search(r"^Memory Device\s*\n\s+.*:", head, re.MULTILINE))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    yield from setting_rows(source, "dmi", _settings(source))


def _settings(source: SourceFile) -> Iterator[Setting]:
    fields, begun = dict[str, str](), 0
    for number, line in source.lines():
        if line.strip() == DEVICE:
            yield from _slot(fields, begun)
            fields, begun = {}, number
        elif line and not line[0].isspace():
            yield from _slot(fields, begun)
            fields, begun = {}, 0
        elif begun and (found := FIELD.match(line)):
            fields.setdefault(found[1], found[2])
    yield from _slot(fields, begun)


def _slot(fields: dict[str, str], line: int) -> Iterator[Setting]:
    """What is in a slot; nothing where the text does not say its size."""
    if not line or "Size" not in fields or "Locator" not in fields:
        return
    found = SIZE.match(fields["Size"])
    if found is None and "No Module" not in fields["Size"]:
        return
    bank = fields.get("Bank Locator", "")
    name = f"dimm.{fields['Locator']}" + (f"/{bank}" if bank and bank != fields["Locator"] else "")
    yield Setting(name, str(int(found[1]) * SCALES[found[2]] if found else 0), line)
    runs = next((fields[one] for one in ("Configured Memory Speed", "Configured Clock Speed") if one in fields), "")
    if speed := SPEED.match(runs):
        yield Setting(f"{name}.speed_mt_s", speed[1], line)
