"""Rules of udev that set attributes of block devices' queues.

It yields `setting`, component `udev`, named `DEVICES.ATTRIBUTE` (`sd[a-z].scheduler`, `dm-*.read_ahead_kb`), where
DEVICES is the rule's pattern of the kernel's name, and `*` where it has none. Rules about anything else are left out.
"""

from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.linux.settings import Setting, setting_rows
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "udev rules"
RANK = Rank.SHAPE
RULE: Final = regex(
    r'^\s*(?:ACTION|KERNEL|SUBSYSTEM|ATTR|ENV|DRIVERS?|KERNELS|SUBSYSTEMS|ATTRS|TAG|IMPORT|LABEL)\b.*[=!+:]=?\s*"'
)
KERNEL: Final = regex(r'\bKERNEL\s*==\s*"([^"]*)"')
SET: Final = regex(r'\bATTR\{(?:bdi/|queue/|device/)([^}]+)\}\s*=\s*"([^"]*)"')


def sniff(head: str) -> bool:
    """Whether its lines are rules."""
    lines = [line for line in head.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and RULE.match(lines[0]) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    yield from setting_rows(source, "udev", _settings(source))


def _settings(source: SourceFile) -> Iterator[Setting]:
    held, begin = "", 0
    for line, raw in source.lines():
        text = raw.strip()
        if not held:
            begin = line
        if text.endswith("\\"):
            held += text[:-1]
            continue
        text, held = held + text, ""
        if not text or text.startswith("#"):
            continue
        if RULE.match(text) is None:
            source.skip(line, "no rule of udev")
            continue
        devices = KERNEL.search(text)
        for attribute, value in SET.findall(text):
            for device in (devices[1] if devices else "*").split("|"):
                yield Setting(f"{device}.{attribute}", value, begin)
