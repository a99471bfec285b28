"""Hypervisor: guests that wait for memory which the hypervisor has paged out."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

# A guest that waits for a page runs nothing at all: one in twenty of its active samples is already felt.
PAGE_WAIT_PCT = 5.0
# Pages that come back faster than this are in use; slower ones are those that nobody needs.
PAGE_READS_PER_S = 10.0
# Pages pushed on from expanded storage to disk: the slower half of paging has begun.
TO_DISK_PER_S = 1.0
# Shares of samples, as of page waits.
WAITS = (
    ("USTAT.%PGA", "it waited for asynchronous paging in {:.0f} %", "the hypervisor's own paging is in its way"),
    ("USTAT.%CFW", "it waited for console functions in {:.0f} %", "commands of the hypervisor hold it up"),
)


class Guest(NamedTuple):
    """What the hypervisor said of one guest: means, and the last of what is a level; null where it was not told."""

    name: str
    page_wait_pct: float | None
    page_reads_per_s: float | None
    resident_bytes: float | None
    paged_out_bytes: float | None


@cause(explains=("memory_short",))
def hypervisor_paging(case: Case) -> Iterator[Claim]:
    """The hypervisor pages out memory that a guest needs.

    Looks like: a guest waits for pages in the hypervisor's samples, and its own tools see nothing but slowness.
    Hurts because: the whole virtual CPU stands still until the page is read from disk; the database in it takes memory
        for fast, and caches what is on disk in truth.
    Speaks for it: page waits of the guest, pages read back for it, pages that went on from expanded storage to disk.
    Speaks against it: pages that lie out but do not come back: nobody needs them.
    Remedy: Give the guests together less virtual memory, or the hypervisor more: shrink guests to what they use, begin
        with those that only cache; reserve memory for the database's guest (SET RESERVED); put paging on more and
        faster volumes until then.
    Verify: %PGW falls below 5 % and X>DS to zero at the same load.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads (IBM, Linux on System z), 2012: overcommitted memory
        was the first cause of slow consolidated databases; FCX113 and FCX114 show it.
    """
    for guest in guests(case.dataset):
        if guest.page_wait_pct is None or guest.page_wait_pct < PAGE_WAIT_PCT:
            continue
        where = f"guest = '{guest.name}'"
        for_, against = weigh(_signs(case, guest, where))
        yield Claim(
            phrase("Guest {} waits for pages of the hypervisor in {:.0f %} of its active time",
                   guest.name, guest.page_wait_pct),
            impact=NOT_MEASURED,
            confidence=0.6 if against or not for_ else 0.85,
            for_=[
                Evidence("guest", where, phrase("{:.0f %} of samples waiting for a page", guest.page_wait_pct),
                         phrase("{:.0f %}", PAGE_WAIT_PCT), "its virtual CPU stood still", "at_least"),
                *for_,
                *_lying_out(guest, where),
            ],
            against=against,
        )  # fmt: skip


def guests(dataset: Dataset) -> list[Guest]:
    """The guests that a hypervisor told of, the one that waits most for pages first."""
    by_guest = dataset.frame("guest").sort("ts", maintain_order=True).group_by("guest", maintain_order=True).agg(
        pl.col("page_wait_pct").mean(), pl.col("page_reads_per_s").mean(),
        pl.col("resident_bytes").drop_nulls().last(), pl.col("paged_out_bytes").drop_nulls().last(),
    )  # fmt: skip
    found = [Guest(row.pop("guest"), **row) for row in by_guest.iter_rows(named=True) if row["guest"] is not None]
    return sorted(found, key=lambda guest: (-(guest.page_wait_pct or 0.0), guest.name))


def _signs(case: Case, guest: Guest, where: str) -> Iterator[Sign]:
    yield Sign("guest", where, guest.page_reads_per_s, PAGE_READS_PER_S, "{:.0f pages/s} read back",
               "what lies out is needed", "what lies out is hardly needed")  # fmt: skip
    named = f"component = 'zvm' and entity = '{guest.name}' and name = "
    yield Sign("statistic", f"{named}'UPAGE.X>DS'", _of(case, "UPAGE.X>DS", guest), TO_DISK_PER_S,
               "{:.1f pages/s} from expanded storage to disk", "expanded storage does not hold them")  # fmt: skip
    for name, words, why in WAITS:
        yield Sign("statistic", f"{named}'{name}'", _of(case, name, guest), PAGE_WAIT_PCT, words, why)


def _of(case: Case, name: str, guest: Guest) -> float | None:
    return next((figure.mean for figure in case.figures(name) if figure.entity == guest.name), None)


def _lying_out(guest: Guest, where: str) -> Iterator[Evidence]:
    if guest.paged_out_bytes and guest.resident_bytes is not None:
        figure = phrase("{:bytes} paged out beside {:bytes} resident", guest.paged_out_bytes, guest.resident_bytes)
        yield Evidence("guest", where, figure, "", "memory is overcommitted")
