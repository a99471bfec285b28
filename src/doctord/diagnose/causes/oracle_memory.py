"""Oracle's memory: buffer cache, work areas, shared pool."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from doctord.analyse.figures import Figure
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.oracle import counted
from doctord.diagnose.phrase import phrase
from doctord.diagnose.waited import share, waited

READS = ("db file sequential read", "cell single block physical read", "db file scattered read",
         "cell multiblock physical read", "db file parallel read", "read by other session")  # fmt: skip
TEMP = ("direct path read temp", "direct path write temp")
# Twice the cache is what can be asked for; a fifth of the reads is what can be felt of it.
LARGER_CACHE = 2.0
SAVED_READS = 0.2
# Printed with two digits.
SAME_SIZE = 0.015
ADVICE = "v$db_cache_advice"
OVER = "v$pga_target_advice.estd_overalloc_count"
ALLOCATED = "v$pgastat.total PGA allocated"
MULTIPASS = "v$sql_workarea_histogram.multipass"
ONEPASS = "v$sql_workarea_histogram.onepass"
POOL_WAITS = ("latch: shared pool", "SGA: allocation forcing component growth")
# A tenth of a second every ten seconds: what is loaded again and again was not let stay.
RELOADS_PER_S = 1.0


@dataclass(frozen=True, slots=True)
class CacheAdvice:
    """What a larger buffer cache would save: sizes as printed, reads at the present one, share (0 to 1) saved."""

    now: str
    larger: str
    reads: float
    saved: float


@cause()
def buffer_cache_small(case: Case) -> Iterator[Claim]:
    """The buffer cache is smaller than its own advice would have it.

    Looks like: much time in reads, and the advisory expects far fewer of them from a larger cache.
    Hurts because: blocks are read again that were thrown out a moment ago.
    Speaks for it: reads that a cache of twice the size would save, by Oracle's own simulation; share of time in reads.
    Speaks against it: an advisory that stays flat: then statements, not memory.
    Remedy: Raise db_cache_size (or sga_target) to where the advisory's curve goes flat, if the host has the memory
        without paging; use huge pages for it. Statements that read without need come first.
    Verify: Physical reads per second at the same load; the advisory is flat at the new size.
    Source: Oracle Database Reference 19c, V$DB_CACHE_ADVICE; G. Fawcett, 2005 (reads from 700 to 7 a second).
    """
    part = share(case, *READS)
    advice = [one for one in _cache_advice(case) if one.saved >= SAVED_READS]
    if not advice or not case.worth_saying(part):
        return
    best = max(advice, key=lambda one: one.reads)
    yield Claim(
        phrase("A larger buffer cache would save {:share} of the reads, by Oracle's own advice", best.saved),
        impact=part * best.saved,
        confidence=0.8,
        for_=[
            *waited(case, *READS),
            Evidence("statistic", f"name = '{ADVICE}.estd_physical_reads' and entity = '{best.larger}'",
                     phrase("{:share} fewer reads with {} MB", best.saved, best.larger),
                     phrase("{:share} fewer", SAVED_READS),
                     phrase("it is {} MB now", best.now), "at_least"),
        ],
    )  # fmt: skip


@cause()
def work_areas_spill(case: Case) -> Iterator[Claim]:
    """Sorts and hash joins do not fit into memory and go through temporary files.

    Looks like: direct path read temp, direct path write temp; one-pass and multi-pass executions.
    Hurts because: what would be one pass in memory becomes several over disks.
    Speaks for it: share of the time in temporary reads and writes, executions that needed passes, the PGA's target.
    Speaks against it: sorts of more than memory could ever hold, in one pass: that is as good as it gets.
    Remedy: Raise pga_aggregate_target to where the advisory stops saving; look at the statements that sort most (rows
        and columns they need not carry, joins in the wrong order); give parallel statements more slaves, as each has
        its own work area.
    Verify: Multi-pass executions are gone, one-pass ones rare; the share of the temporary waits falls.
    Source: Oracle Database Performance Tuning Guide 19c, "Tuning the Program Global Area".
    """
    part = share(case, *TEMP)
    if not case.worth_saying(part):
        return
    multi = case.total(MULTIPASS)
    target = case.setting_of_any("pga_aggregate_target")
    for_, against = weigh(
        [
            Sign("statistic", f"name = '{MULTIPASS}'", None if multi is None else multi * case.seconds, 1.0,
                 "{:,.0f} multi-pass executions", "their input was read from disk more than once",
                 "one pass was enough: they are large, not starved"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Sorts and hash joins wait for temporary files: {:share of database}", part),
        impact=part,
        confidence=0.7 if against else 0.85,
        for_=[
            *waited(case, *TEMP),
            *for_,
            *counted(case, ONEPASS, "{:rate} with one pass"),
            *([Evidence("setting", "name = 'pga_aggregate_target'", phrase("{:bytes}", int(target)), "", "the target")]
              if target and target.isdigit() and int(target) else []),
                    ],
        against=against,
    )  # fmt: skip


@cause(explains=("work_areas_spill",))
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


@cause(explains=("hard_parsing",))
def shared_pool_small(case: Case) -> Iterator[Claim]:
    """The shared pool has no room: what was parsed is thrown out and loaded again.

    Looks like: latch: shared pool, waits for a component to grow, reloads in the library cache, ORA-04031.
    Hurts because: cursors that were thrown out are parsed again, and allocation holds latches that all parsing needs.
    Speaks for it: these waits, reloads per second, what the shared pool's advisory expects of a larger one.
    Speaks against it: many hard parses of statements that differ in literals alone: no pool is large enough for those.
    Remedy: Stop literals first (see hard_parsing); then give shared_pool_size a floor, also under automatic memory
        management, so that the buffer cache cannot eat it.
    Verify: Reloads per second and these waits fall; no ORA-04031 in the alert log.
    Source: Oracle Database Performance Tuning Guide 19c, "Tuning the Shared Pool and the Large Pool".
    """
    part = share(case, *POOL_WAITS)
    reloads = case.total("v$librarycache.reloads")
    if not case.worth_saying(part):
        return
    hard = case.total("v$sysstat.parse count (hard)")
    for_, against = weigh(
        [
            Sign("statistic", "name = 'v$librarycache.reloads'", reloads, RELOADS_PER_S, "{:.2g reloads per s}",
                 "what was parsed did not stay"),
            Sign("statistic", "name = 'v$sysstat.parse count (hard)'", hard, 100.0, "{:.0f hard parses per s}",
                 "few new statements", "new statements all the time: no pool would hold them", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("The shared pool has no room: {:share of database}", part),
        impact=part,
        confidence=0.6 if against else 0.8,
        for_=[*waited(case, *POOL_WAITS), *for_],
        against=against,
    )


def _cache_advice(case: Case) -> list[CacheAdvice]:
    """What the largest size up to twice the present one would save, for each instance and pool that reads."""
    reads = {(f.db, f.instance, f.entity): f.mean for f in case.figures(f"{ADVICE}.estd_physical_reads")}
    pools: dict[tuple[str | None, ...], dict[str, float]] = {}
    for factor in case.figures(f"{ADVICE}.size_factor"):
        pool = (factor.entity or "").partition(" ")[0]
        pools.setdefault((factor.db, factor.instance, pool), {})[factor.entity or ""] = factor.mean
    found = []
    for (db, instance, _), sizes in pools.items():
        now = min(sizes, key=lambda size: abs(sizes[size] - 1))
        larger = max((size for size in sizes if 1 < sizes[size] <= LARGER_CACHE), key=sizes.__getitem__, default=now)
        before, after = reads.get((db, instance, now)), reads.get((db, instance, larger))
        if before and after is not None:
            found.append(CacheAdvice(now, larger, before, 1 - after / before))
    return found


def _target_now(case: Case) -> Figure | None:
    """The advisory's line at the target in force, of the instance where it is worst."""
    present = {
        (figure.db, figure.instance, figure.entity)
        for figure in case.figures("v$pga_target_advice.size_factor")
        if abs(figure.mean - 1) < SAME_SIZE
    }
    lines = [figure for figure in case.figures(OVER) if (figure.db, figure.instance, figure.entity) in present]
    return max(lines, key=lambda figure: figure.mean, default=None)


def _megabytes(figure: Figure) -> float:
    """The size that a line of an advisory is about, MB as printed; nothing can be compared with one that is none."""
    digits = (figure.entity or "").replace(",", "")
    return float(digits) if digits.replace(".", "", 1).isdigit() else inf
