"""Kernel settings: `sysctl -a`, and /etc/sysctl.conf with its comments.

It yields `setting`, component `kernel`, under the kernel's own names; several values of one name (net.ipv4.tcp_rmem)
stand with single blanks. What differs for each boot, interface or CPU is kept as it is.
"""

from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.linux.settings import Setting, setting_rows
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "sysctl"
RANK = Rank.SHAPE
LINE: Final = regex(r"-?\s*((?:abi|crypto|debug|dev|fs|kernel|net|sunrpc|user|vm)[./][\w./@:-]+?)\s*=\s*(.*)$")
COMMENT: Final = ("#", ";")
DENIED: Final = regex(r"sysctl: (?:permission denied|reading key|error|cannot stat|unable)")
ENOUGH: Final = 2


def sniff(head: str) -> bool:
    """Whether its first lines are settings of the kernel."""
    lines = [line for line in head.splitlines() if line.strip() and not line.lstrip().startswith((*COMMENT, "sysctl:"))]
    told = [line for line in lines[:20] if LINE.match(line)]
    return len(told) >= ENOUGH and len(told) * 2 > len(lines[:20])


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    yield from setting_rows(source, "kernel", _settings(source))


def _settings(source: SourceFile) -> Iterator[Setting]:
    for line, text in source.lines():
        if found := LINE.match(text.strip()):
            yield Setting(found[1].replace("/", "."), " ".join(found[2].split()), line)
        elif DENIED.match(text):
            source.note("some settings could not be read by whoever saved this (root can)")
        elif text.strip() and not text.lstrip().startswith(COMMENT):
            source.skip(line, "no setting of the kernel")
