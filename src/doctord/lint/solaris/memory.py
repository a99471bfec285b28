"""Solaris' memory: the file system's window into the kernel, and the tables of address translation."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.diagnose.phrase import Words, listed, phrase
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

SEGMAP_HITS: Final = 0.8
DEFAULT_SEGMAP_PCT: Final = 12.0
SLOW_TRANSLATION_PCT: Final = 20.0
LARGEST_TSB: Final = 7.0  # 1 MB
MOVES_PER_CPU: Final = 500.0  # at 0.1 ms of lost cache each, a twentieth of the time
LONG_REMEMBERED: Final = 100.0
TSB_ENTRIES: Final = 512  # of a table of 8 KB, which tsb_rss_factor counts by
HIGH_WATER: Final = 32.0
TSB_NAMES: Final = ("default_tsb_size", "enable_tsb_rss_sizing", "tsb_rss_factor", "tsb_alloc_hiwater_factor")


@rule("solaris")
def segmap_small(subject: Subject) -> Iterator[Violation]:
    """The window through which cached files are read is small: pages are mapped again and again.

    Why: reads of a UFS or VxFS file go through segmap; a block that is in memory but not in the window is mapped
        anew, with a cross call to all CPUs at each unmapping.
    Evidence: segmap_percent (12 % of memory where nobody set it), its hit rate (get_reclaim by getmap of kstat
        unix:0:segmap), cross calls.
    Fix: segmap_percent up to what files are read through the cache; for a database better direct I/O, which does not
        use segmap at all.
    Verify: Hit rate above 80 %; cross calls and system time fall at the same reads.
    Source: Solaris Tunable Parameters Reference Manual, segmap_percent; G. Fawcett, 2005 (2,600,000 cross calls a
        second).
    """
    share = _segmap_hits(subject)
    if share is None or share >= SEGMAP_HITS:
        return
    held = subject.number("segmap_percent") or DEFAULT_SEGMAP_PCT
    yield subject.violation(
        phrase("segmap_percent = {:.0f}: {:share} of its look-ups hit", held, share),
        "segmap_percent",
        cost=phrase("{:share} of the reads through the cache map a page anew", 1 - share),
        severity=Severity.WARNING,
    )


@rule("solaris")
def tsb_small(subject: Subject) -> Iterator[Violation]:
    """The translation tables that the kernel makes for each process are held small by hand.

    Why: an address that is not in the table is looked for in the kernel: at the default of 8 KB it has 512 entries,
        which with 4 MB pages is 2 GB.
    Evidence: default_tsb_size, enable_tsb_rss_sizing (0: tables do not grow with the process), tsb_rss_factor (above
        512: they grow only when overfull), tsb_alloc_hiwater_factor; time in TLB and TSB misses (trapstat -T).
    Fix: Leave enable_tsb_rss_sizing at 1 and tsb_rss_factor at 384 or less; or default_tsb_size for the memory that is
        mapped (doctord size tlb): 8 KB times 2 to its power.
    Verify: trapstat -T: time in TSB misses below a few per cent.
    Source: Solaris Tunable Parameters Reference Manual, "sun4u and sun4v Specific Parameters"; K. Manoharan, 2008.
    """
    grows = subject.number("enable_tsb_rss_sizing")
    factor, size = subject.number("tsb_rss_factor"), subject.number("default_tsb_size") or 0.0
    high_water = subject.number("tsb_alloc_hiwater_factor")
    held = list[Words]()
    if grows == 0 and size < LARGEST_TSB:
        held.append("tables do not grow with a process")
    if factor is not None and factor > TSB_ENTRIES:
        held.append(phrase("tables grow only above {:share} of their entries", factor / TSB_ENTRIES))
    if high_water is not None and high_water > HIGH_WATER:
        held.append(phrase("all tables together may take only 1/{:.0f} of memory", high_water))
    if not held:
        return
    missing = _translating_pct(subject)
    cost: Words = f"{CANNOT_JUDGE} what address translation takes: trapstat -T"
    if missing is not None:
        cost = phrase("{:.1f %} of the time goes into address translation", missing)
    yield subject.violation(
        listed(*held, by="; "),
        *TSB_NAMES,
        cost=cost,
        severity=Severity.WARNING if missing is not None and missing >= SLOW_TRANSLATION_PCT else Severity.NOTE,
    )


@rule("solaris")
def threads_move_often(subject: Subject) -> Iterator[Violation]:
    """Threads move between CPUs often, and rechoose_interval is small.

    Why: a thread that waited longer than rechoose_interval (3 ticks of 10 ms where nobody set it) may go on on any
        CPU, whose cache knows nothing of it: long scans and sorts of a warehouse read their memory anew.
    Evidence: rechoose_interval; migrations a second and CPU (migr of mpstat).
    Fix: rechoose_interval=150 in /etc/system of a warehouse; leave it where many short transactions share the CPUs.
    Verify: migr of mpstat falls; the same scans take less CPU time.
    Source: Solaris Tunable Parameters Reference Manual, rechoose_interval; K. Manoharan, 2008.
    """
    moves, ticks = _moves_per_cpu(subject), subject.number("rechoose_interval") or 3.0
    if moves is not None and moves >= MOVES_PER_CPU and ticks < LONG_REMEMBERED:
        yield subject.violation(
            phrase("rechoose_interval = {:.0f}: {:.0f} moves a second and CPU", ticks, moves),
            "rechoose_interval",
            cost=phrase("{:.0f} times a second each CPU begins with a cache that is another thread's", moves),
            severity=Severity.NOTE,
            changes=[subject.change("rechoose_interval", "150", "restart")],
        )


def _moves_per_cpu(subject: Subject) -> float | None:
    each = subject.case.dataset.frame("cpu").filter(pl.col("cpu").is_not_null())["migrations_per_s"].drop_nulls()
    return float(each.mean()) if each.len() else None  # type: ignore[arg-type]


def _segmap_hits(subject: Subject) -> float | None:
    """Share (0 to 1) of look-ups in segmap that found their page mapped; null where it was not counted."""
    figures = subject.case.dataset.frame("statistic").filter(pl.col("entity").fill_null("").str.ends_with(":segmap"))
    last = dict(figures.sort("ts", maintain_order=True).select("name", "value").iter_rows())
    asked, found = last.get("kstat.getmap"), last.get("kstat.get_reclaim")
    return min(found / asked, 1.0) if asked and found is not None else None


def _translating_pct(subject: Subject) -> float | None:
    frame = subject.case.dataset.frame("translation")
    columns = ("itlb_pct", "itsb_pct", "dtlb_pct", "dtsb_pct")
    if frame.is_empty():
        return None
    spent = frame.group_by("ts", "cpu", maintain_order=True).agg(
        pl.sum_horizontal(pl.col(*columns).sum()).alias("pct")
    )["pct"]
    return float(spent.mean()) if spent.len() else None  # type: ignore[arg-type]
