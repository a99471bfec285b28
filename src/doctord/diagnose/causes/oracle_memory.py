"""Oracle's memory: work areas beyond their target, shared pool."""

from collections.abc import Iterator
from math import inf

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.oracle import counted
from doctord.diagnose.phrase import phrase
from doctord.diagnose.waited import share, waited

TEMP = ("direct path read temp", "direct path write temp")
# Printed with two digits.
SAME_SIZE = 0.015
OVER = "v$pga_target_advice.estd_overalloc_count"
ALLOCATED = "v$pgastat.total PGA allocated"
POOL_WAITS = ("latch: shared pool", "SGA: allocation forcing component growth")
# A tenth of a second every ten seconds: what is loaded again and again was not let stay.
RELOADS_PER_S = 1.0


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
