"""Oracle's memory: work areas beyond their target, shared pool."""

from collections.abc import Iterator
from math import inf

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import counted, time_model
from doctord.diagnose.common.waited import share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

TEMP = ("direct path read temp", "direct path write temp")
# Printed with two digits.
SAME_SIZE = 0.015
OVER = "v$pga_target_advice.estd_overalloc_count"
ALLOCATED = "v$pgastat.total PGA allocated"
POOL_WAITS = ("latch: shared pool", "SGA: allocation forcing component growth")
# A tenth of a second every ten seconds: what is loaded again and again was not let stay.
RELOADS_PER_S = 1.0
POOL, SHARED, FREE = "v$sgastat.size", "shared/", "shared/free memory"
SIZES = (("v$sga.Shared Pool Size", None), ("v$memory_dynamic_components.current_size", "shared pool"))
USED = "shared_pool.Memory Usage %"
# Oracle keeps a few per cent free by throwing out what is old; with a tenth free it threw out nothing for want of room.
ROOM_SHARE = 0.1
NO_MEMORY = "ORA-04031"
OUT_OF_MEMORY = "failed parse (out of shared memory) elapsed time"
# Beyond a handful a second statements are made up as one goes; at a hundred they turn a pool over in minutes.
HARD_PER_S = 20.0
NEW_PER_S = 100.0


@cause(explains=("sort_spill",))
def pga_over_allocated(case: Case) -> Iterator[Claim]:
    """The PGA's target is too small even for what cannot be tuned: Oracle goes beyond it.

    Looks like: the advisory counts over-allocations at the present target; memory in use above it.
    Hurts because: every work area gets the minimum and spills, and the host's memory is used beyond the plan.
    Speaks for it: estimated over-allocations at the present target, PGA allocated against the target.
    Speaks against it: an advisory that needs no more at the present size.
    Remedy: Raise pga_aggregate_target to the smallest size at which the advisory counts no over-allocation; look for
        sessions that hold much (PL/SQL collections); cap with pga_aggregate_limit.
    Verify: estd_overalloc_count is 0 at the target, and over allocation count in v$pgastat stands still.
    Source: Oracle Database Performance Tuning Guide 19c, "Tuning the Program Global Area"; Oracle Database Reference
        19c, V$PGA_TARGET_ADVICE.
    """
    now = _target_now(case)
    over = [figure for figure in case.figures("v$pgastat.over allocation count") if figure.mean > 0]
    if (now is None or now.mean <= 0) and not over:
        return
    enough = min((_megabytes(figure) for figure in case.figures(OVER) if figure.mean <= 0), default=inf)
    target = case.total("v$pgastat.aggregate PGA target parameter")
    part = share(case, *TEMP)
    yield Claim(
        "The PGA's target is too small: memory is allocated beyond it",
        impact=case.felt(part),
        confidence=0.85,
        for_=[
            *([Evidence("statistic", f"name = '{OVER}' and entity = '{now.entity}'",
                        phrase("{:,.0f} over-allocations expected with {} MB", now.mean, now.entity), "none",
                        phrase("none with {:,.0f MB}", enough) if enough < inf
                        else "at no size that the advisory tried")]
              if now is not None and now.mean > 0 else []),
            *counted(case, "v$pgastat.over allocation count", "{:.3g} over-allocations", "none"),
            *counted(case, ALLOCATED, "{:bytes} allocated", phrase("{:bytes}", target) if target else ""),
            *waited(case, *TEMP),
        ],
    )  # fmt: skip


@cause()
def shared_pool_small(case: Case) -> Iterator[Claim]:
    """The shared pool has no room: what was parsed is thrown out and loaded again.

    Looks like: allocations that failed (ORA-04031, parses that failed for want of memory); hardly any memory free,
        with latch: shared pool, waits for a component to grow, reloads in the library cache.
    Hurts because: cursors that were thrown out are parsed again, and allocation holds latches that all parsing needs.
    Speaks for it: failed allocations, free memory and how it moved, these waits, reloads per second.
    Speaks against it: many hard parses of statements that differ in literals alone: they fill a pool of any size.
        Memory that is free, without a failed allocation, rules it out.
    Remedy: Stop literals first (see hard_parsing); then give shared_pool_size a floor, also under automatic memory
        management, so that the buffer cache cannot eat it. Large packages kept in memory (dbms_shared_pool.keep).
    Verify: Reloads per second and these waits fall; no ORA-04031 in the alert log; v$sgastat shows free memory.
    Source: Oracle Database Performance Tuning Guide 19c, "Tuning the Shared Pool and the Large Pool" (free memory in
        V$SGASTAT says that it need not be larger).
    """
    part, failed = share(case, *POOL_WAITS), _failed(case)
    if not failed and (_has_room(case) or not case.worth_saying(part)):
        return
    hard = case.total("v$sysstat.parse count (hard)")
    for_, against = weigh(
        [
            *_room(case),
            Sign("statistic", "name = 'v$librarycache.reloads'", case.total("v$librarycache.reloads"), RELOADS_PER_S,
                 "{:.2g reloads per s}", "what was parsed did not stay"),
            Sign("statistic", "name = 'v$sysstat.parse count (hard)'", hard, NEW_PER_S, "{:.0f hard parses per s}",
                 "few new statements", "new statements all the time: no pool would hold them", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("The shared pool has no room{}", phrase(": {:share of database}", part) if part else ""),
        impact=case.felt(part),
        confidence=0.9 if failed else 0.6 if against else 0.8,
        for_=[*failed, *waited(case, *POOL_WAITS), *for_],
        against=against,
    )


@cause()
def shared_pool_busy(case: Case) -> Iterator[Claim]:
    """Sessions queue for the latches of a shared pool that has room.

    Looks like: latch: shared pool, or waits for a component to grow, with memory free in the pool and no failed
        allocation.
    Hurts because: each new cursor takes memory under a latch, however much memory there is.
    Speaks for it: these waits, free memory, hard parses per second.
    Speaks against it: few hard parses: then a pool that is resized, or flushed.
    Remedy: Fewer new statements (see hard_parsing); a larger pool only makes its lists longer. With waits for a
        component to grow, floors for the pools (shared_pool_size, db_cache_size) so that memory stays where it is.
    Verify: The share of these waits falls with the hard parses per second.
    Source: Oracle Database Performance Tuning Guide 19c, "Tuning the Shared Pool and the Large Pool"; C. Antognini, 2nd
        edition, 2014, chapter 12.
    """
    part = share(case, *POOL_WAITS)
    if not case.worth_saying(part) or not _has_room(case) or _failed(case):
        return
    hard = case.total("v$sysstat.parse count (hard)")
    for_, against = weigh(
        [
            Sign("statistic", f"name = '{POOL}' and entity = '{FREE}'", (_free_share(case) or 0.0) * 100,
                 ROOM_SHARE * 100, "{:.0f %} of the shared pool free", "it need not be larger"),
            Sign("statistic", "name = 'v$sysstat.parse count (hard)'", hard, HARD_PER_S, "{:.0f hard parses per s}",
                 "each allocates, under a latch", "few: resizes or flushes"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Sessions wait for the latches of the shared pool: {:share of database}", part),
        impact=part,
        confidence=0.6 if against else 0.8,
        for_=[*waited(case, *POOL_WAITS), *for_],
        against=against,
    )


def _failed(case: Case) -> list[Evidence]:
    """Allocations in the shared pool that failed: in the alert log, and parses that failed for want of memory."""
    errors = case.dataset.frame("event").filter(pl.col("subject") == NO_MEMORY)
    lost = time_model(case, OUT_OF_MEMORY)
    return [
        *([Evidence("event", f"subject = '{NO_MEMORY}'", phrase("{} in the alert log: {}", NO_MEMORY, errors.height),
                    "none", "an allocation found no room")]
          if errors.height else []),
        *([Evidence("statistic", f"name = 'v$sys_time_model.{OUT_OF_MEMORY}'", phrase("{:share of database}", lost),
                    "none", "parses that failed for want of shared memory")]
          if lost else []),
    ]  # fmt: skip


def _has_room(case: Case) -> bool:
    """Whether memory stayed free in the shared pool; false where that is not known."""
    free = _free_share(case)
    return free is not None and free >= ROOM_SHARE


def _free_share(case: Case) -> float | None:
    """Free memory of the shared pool (0 to 1), the least of any instance and moment; null when it is not known.

    A report lists the largest parts of the pool alone: where its size stands elsewhere, that is the whole.
    """
    parts = case.dataset.frame("statistic").filter((pl.col("name") == POOL) & pl.col("entity").str.starts_with(SHARED))
    free = pl.col("value").filter(pl.col("entity") == FREE)
    pools = parts.group_by("db", "instance", "ts", maintain_order=True).agg(
        free.first().alias("free"), pl.col("value").sum().alias("size")
    )
    sizes = {
        (one.db, one.instance): one.largest for name, of in SIZES for one in case.figures(name) if one.entity == of
    }
    told = [
        free / max(size, sizes.get((db, instance), 0.0))
        for db, instance, _, free, size in pools.drop_nulls("free").iter_rows()
        if size
    ]
    return min([*told, *(1 - figure.largest / 100 for figure in case.figures(USED))], default=None)


def _room(case: Case) -> list[Sign]:
    """Free memory of the shared pool, and whether it shrank from the first report to the last."""
    free, moved = (
        _free_share(case),
        case.dataset.frame("statistic")
        .filter((pl.col("name") == POOL) & (pl.col("entity") == FREE))
        .sort("ts", maintain_order=True)["value"]
        .drop_nulls(),
    )
    trend = phrase("; {:bytes} at first, {:bytes} at last", moved[0], moved[-1]) if moved.len() > 1 else ""
    return [
        Sign("statistic", f"name = '{POOL}' and entity = '{FREE}'", None if free is None else free * 100,
             ROOM_SHARE * 100, "{:.1f %} of the shared pool free", phrase("hardly any room is left{}", trend),
             phrase("there was room{}", trend), below=True),
    ]  # fmt: skip


def _target_now(case: Case) -> Statistic | None:
    """The advisory's line at the target in force, of the instance where it is worst."""
    present = {
        (figure.db, figure.instance, figure.entity)
        for figure in case.figures("v$pga_target_advice.size_factor")
        if abs(figure.mean - 1) < SAME_SIZE
    }
    lines = [figure for figure in case.figures(OVER) if (figure.db, figure.instance, figure.entity) in present]
    return max(lines, key=lambda figure: figure.mean, default=None)


def _megabytes(figure: Statistic) -> float:
    """The size that a line of an advisory is about, MB as printed; nothing can be compared with one that is none."""
    digits = (figure.entity or "").replace(",", "")
    return float(digits) if digits.replace(".", "", 1).isdigit() else inf
