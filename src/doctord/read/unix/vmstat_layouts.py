"""Where the columns of vmstat go: of Linux, Solaris, AIX and HP-UX, which share names but not meanings or units.

The CPU columns have the names `cpu us`, `cpu sy`..., as `sy` also stands for system calls.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from doctord.read.figures import number
from doctord.read.tools.numbers import Layout

KIB, PAGE = 1024.0, 4096.0
PER_S, COUNT = ("per_s", "rate", 1.0), ("count", "gauge", 1.0)
CPU = {
    "r": ("run_queue", 1.0),
    "b": ("blocked_tasks", 1.0),
    "in": ("interrupts_per_s", 1.0),
    "cs": ("csw_per_s", 1.0),
    "sy": ("syscalls_per_s", 1.0),
    "cpu us": ("usr_pct", 1.0),
    "cpu gu": ("usr_pct", 1.0),
    "cpu sy": ("sys_pct", 1.0),
    "cpu id": ("idle_pct", 1.0),
    "cpu wa": ("wait_io_pct", 1.0),
    "cpu st": ("steal_pct", 1.0),
}
PROCESSORS = frozenset(CPU)
LINUX = {
    "free": ("free_bytes", KIB),
    "buff": ("page_cache_bytes", KIB),
    "cache": ("page_cache_bytes", KIB),
    "si": ("swap_in_per_s", KIB / PAGE),
    "so": ("swap_out_per_s", KIB / PAGE),
    "bi": ("page_in_kib_per_s", 1.0),
    "bo": ("page_out_kib_per_s", 1.0),
}
SOLARIS = {
    "free": ("free_bytes", KIB),
    "mf": ("minor_faults_per_s", 1.0),
    "pi": ("page_in_kib_per_s", 1.0),
    "po": ("page_out_kib_per_s", 1.0),
    "sr": ("scan_per_s", 1.0),
}
AIX = {
    "fre": ("free_bytes", PAGE),
    "pi": ("swap_in_per_s", 1.0),
    "po": ("swap_out_per_s", 1.0),
    "fi": ("page_in_kib_per_s", PAGE / KIB),
    "fo": ("page_out_kib_per_s", PAGE / KIB),
    "sr": ("scan_per_s", 1.0),
}
HP_UX = {
    "free": ("free_bytes", PAGE),
    "pi": ("page_in_kib_per_s", PAGE / KIB),
    "po": ("page_out_kib_per_s", PAGE / KIB),
    "sr": ("scan_per_s", 1.0),
}


def layout_of(names: list[str]) -> tuple[Layout, Mapping[str, tuple[str, float]]] | None:
    """Where the columns of `memory` and `statistic` go, and those of `cpu`; null where the names are of no vmstat."""
    known = set(names)
    if {"swpd", "free", "bi", "bo"} <= known:
        units = dict.fromkeys(("swpd", "inact", "active"), ("bytes", "gauge", KIB))
        return Layout("kernel", "vmstat", LINUX, units), CPU
    if {"swap", "free", "sr", "de"} <= known:
        kib_s = dict.fromkeys(("fr", *_PARTS), ("bytes_per_s", "rate", KIB))
        units = kib_s | dict.fromkeys(("swap", "de"), ("bytes", "gauge", KIB))
        units |= {"re": PER_S, "si": PER_S, "so": PER_S}
        return Layout("solaris", "vmstat", SOLARIS, units), CPU
    if {"avm", "fre"} <= known:
        units = {"avm": ("bytes", "gauge", PAGE), "fr": PER_S, "re": PER_S, "cy": PER_S, "p": COUNT}
        units |= {"cpu pc": ("cpus", "gauge", 1.0), "cpu ec": ("pct", "gauge", 1.0)}
        return Layout("aix", "vmstat", AIX, units), CPU
    if {"avm", "free", "at"} <= known:
        units = {"avm": ("bytes", "gauge", PAGE)} | dict.fromkeys(("fr", "re", "at", "de"), PER_S)
        return Layout("hp-ux", "vmstat", HP_UX, units), CPU
    return None


# vmstat -p: executable, anonymous and file pages, in, out and freed.
_PARTS = tuple(f"{part}p{way}" for part in "eaf" for way in "iof")


# What the columns are where nobody printed their names: by how many there are, which of the last are shares that make
# up 100 %, and which are 0 on nearly any machine (AIX: re and cy, Solaris: de).
UNNAMED: Final[tuple[tuple[str, int, tuple[str, ...]], ...]] = (
    ("r b avm fre re pi po fr sr cy in sy cs cpu_us cpu_sy cpu_id cpu_wa", 4, ("re", "cy")),
    ("r b avm fre re pi po fr sr cy in sy cs cpu_us cpu_sy cpu_id cpu_wa cpu_pc cpu_ec", 4, ("re", "cy")),
    ("r b w swap free re mf pi po fr de sr -- -- -- -- in sy cs cpu_us cpu_sy cpu_id", 3, ("de",)),
    ("r b swpd free buff cache si so bi bo in cs cpu_us cpu_sy cpu_id cpu_wa cpu_st", 5, ()),
)
LEAST_LINES: Final = 3
ALL_PCT: Final = (97.0, 103.0)  # shares are rounded one by one


def unnamed(rows: Iterable[list[str]]) -> list[str] | None:
    """The names of vmstat's columns by the figures below them; null where not all of the rows are of one layout.

    >>> unnamed([f"1 0 9000 70 0 0 0 0 0 0 60 90 80 {us} 5 {95 - us} 0".split() for us in (7, 9, 1)])[2]
    'avm'
    """
    kept = list(rows)
    return next((_names(text) for text, shares, still in UNNAMED if _all_fit(kept, _names(text), shares, still)), None)


def _names(text: str) -> list[str]:
    return [name.replace("_", " ") for name in text.split()]


def _all_fit(rows: list[list[str]], names: list[str], shares: int, still: tuple[str, ...]) -> bool:
    return len(rows) >= LEAST_LINES and all(_fits(row[-len(names) :], names, shares, still) for row in rows)


def _fits(row: list[str], names: list[str], shares: int, still: tuple[str, ...]) -> bool:
    figures = {name: number(word) for name, word in zip(names, row, strict=False)}
    if len(row) != len(names) or None in figures.values():
        return False
    parts = [figures[name] or 0.0 for name in names if name.startswith("cpu ")][:shares]
    return ALL_PCT[0] <= sum(parts) <= ALL_PCT[1] and not any(figures[name] for name in still)
