"""Where the columns of vmstat go: of Linux, Solaris, AIX and HP-UX, which share names but not meanings or units.

The CPU columns have the names `cpu us`, `cpu sy`..., as `sy` also stands for system calls.
"""

from collections.abc import Mapping

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
