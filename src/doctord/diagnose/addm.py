"""What Oracle's own monitor (ADDM) found in the same interval: evidence for what causes claim, or against it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

IMPACT, ALL, LISTED = "addm.impact_active_sessions", "addm.active_sessions", "addm.active_sessions_pct"
MOST_NAMED = 3
READS: Final = ('"User I/O" wait Class', "Top Segments by")

# How the titles of ADDM's findings begin (DBA_ADVISOR_FINDINGS.FINDING_NAME, 11.2 to 19c) that say the same as a cause.
SAME: Final[Mapping[str, tuple[str, ...]]] = {
    "statement_dominates": ("Top SQL",),
    "too_many_single_block_reads": (*READS, "Undersized Buffer Cache", "Undersized SGA"),
    "full_scans": READS,
    "reads_slow": ("I/O Throughput",),
    "commits_too_frequent": ("Commits and Rollbacks",),
    "commits_slow": ("Commits and Rollbacks", "I/O Throughput"),
    "log_buffer_small": ("Undersized Redo Log Buffer",),
    "log_switches_frequent": ("Log File Switches", "Checkpoints Due to"),
    "hard_parsing": ("Hard Parse", "Hard Parses"),
    "parse_calls_frequent": ("Soft Parse",),
    "shared_pool_small": ("Undersized Shared Pool", "Undersized SGA", "Shared Pool Latches"),
    "library_cache_contention": ("Shared Pool Latches", "Hard Parse", "Hard Parses"),
    "pga_over_allocated": ("Undersized PGA",),
    "sort_spill": ("Undersized PGA",),
    "buffer_pool_small": ("Undersized Buffer Cache", "Undersized SGA"),
    "connection_churn": ("Session Connect and Disconnect",),
    "row_locks": ("Row Lock Waits",),
    "table_locks": ("Table Locks",),
    "hot_blocks": ("Buffer Busy",),
    "hot_buffers": ("Buffer Cache Latches",),
    "sequence_contention": ("Sequence Usage",),
    "cluster_hot_blocks": ("Buffer Busy", "Global Cache"),
    "cluster_traffic": ("Global Cache",),
    "cluster_congested": ("Global Cache Congestion",),
    "interconnect_slow": ("Global Cache Messaging", "Interconnect"),
    "host_cpu_short": ("CPU Usage", "Host CPU"),
    "memory_short": ("Virtual Memory Paging",),
    "resource_manager_limits": ("CPU Usage", "Resource Manager"),
}


class Told(NamedTuple):
    """A finding of ADDM: its title, the share (0 to 1) of all activity, and the rows that tell it."""

    title: str
    share: float
    rows: str


def told(case: Case) -> list[Told]:
    """What ADDM found, by its own report or as an AWR report lists it, most activity first."""
    listed = list[Told]()
    for one in case.figures(LISTED):  # largest first; each analysis lists a finding again, behind which its task stands
        title = (one.entity or "").partition(" ADDM:")[0]
        if title not in {earlier.title for earlier in listed}:
            listed.append(Told(title, one.mean / 100, _rows(LISTED, one.entity)))
    sessions = case.total(ALL)
    if sessions:
        found = case.figures(IMPACT)
        listed += [Told(one.entity or "", one.mean / sessions, _rows(IMPACT, one.entity)) for one in found]
    return sorted(listed, key=lambda one: -one.share)


def looked(case: Case) -> bool:
    """Whether ADDM looked at the interval at all."""
    events = case.dataset.frame("event").filter(pl.col("kind") == "addm finding")
    return bool(case.figures(ALL) or case.figures(LISTED) or events.height)


def with_addm(case: Case, cause: str, claim: Claim) -> Claim:
    """What a cause claims, with what ADDM says to it."""
    same = SAME.get(cause)
    if same is None or case.components != {"oracle"} or not looked(case):
        return claim
    found = told(case)
    agrees = [one for one in found if one.title.startswith(same)]
    if agrees:
        evidence = [
            Evidence(
                "statistic", one.rows, phrase("ADDM: {}, {:share}", one.title, one.share), "", "Oracle's own finding"
            )
            for one in agrees[:MOST_NAMED]
        ]
        return replace(claim, for_=[*claim.for_, *evidence])
    others = ", ".join(one.title for one in found[:MOST_NAMED]) or "nothing"
    against = Evidence("event", "kind = 'addm finding'", phrase("ADDM found {}", others), "", "and does not name this")
    return replace(claim, against=[*claim.against, against])


def _rows(name: str, entity: str | None) -> str:
    return f"name = '{name}' and entity = '{entity}'"
