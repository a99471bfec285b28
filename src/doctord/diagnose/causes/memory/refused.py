"""Memory that the system refuses a server's statements: by a limit of its processes, or of what the host promises."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.failures import is_over, of_kind, severity_of
from doctord.diagnose.evidence import Sign
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, measured
from doctord.diagnose.phrase import Phrase, Words, phrase

GIB: Final = 2**30
# What the largest of the processes has of a limit, in part (0 to 1): one that grows reaches the rest at once. Most of
# a backend's addresses are shared memory that it has from its start.
NEAR: Final = 0.5
# Of what the host may promise in all.
COMMITTED: Final = 0.9
STRICT: Final = "2"
# Limit, what is used of it, and how it is said: RLIMIT_AS and RLIMIT_DATA of getrlimit(2).
LIMITS: Final = (
    ("limits.address_space_bytes", "limits.address_space_used_bytes", "of addresses (ulimit -v)"),
    ("limits.data_bytes", "limits.data_used_bytes", "of data (ulimit -d)"),
)
UNSEEN: Final = NotMeasured(
    "the limits of the server's processes",
    "the server was not reached by its socket on this host",
    "grep -E 'address|data' /proc/PID/limits of the postmaster, beside VmPeak in /proc/PID/status",
)
UNLIMITED: Final = (
    "Raise or remove the limit where the server is started: ulimit -v and -d in its start script, LimitAS= and "
    "LimitDATA= of its unit (systemctl show -p LimitAS,LimitDATA UNIT), `as` and `data` in limits.conf. A process "
    "keeps what it began with: restart, or prlimit --pid POSTMASTER --as=unlimited --data=unlimited, which new "
    "sessions inherit. What a session may take is bounded by work_mem, and all of them by a control group "
    "(MemoryMax=).",
)
PROMISES: Final = (
    "The host promises no more memory than CommitLimit (vm.overcommit_memory = 2): raise vm.overcommit_ratio (or "
    "_kbytes) to what the host has, add swap, or have less promised: fewer connections, a smaller shared_buffers, "
    "other services elsewhere.",
)


class Refused(NamedTuple):
    """What refuses memory: said behind the title, evidence, steps; `is_sure` where what is used comes near it."""

    said: Words
    evidence: Sequence[Evidence]
    steps: Sequence[Words]
    is_sure: bool


@cause(explains=("rollbacks_many", "errors_logged"))
def out_of_memory(case: Case) -> Iterator[Claim]:
    """Statements fail because the system gives the server no memory.

    Looks like: errors 53200, "out of memory".
    Hurts because: the statement fails, and its transaction with it; the next one to ask may be the server's own.
    Speaks for it: how many statements fail so; a limit of addresses or data that the server's processes began with
        (RLIMIT_AS, RLIMIT_DATA) beside what the largest of them has; with vm.overcommit_memory = 2, what the host has
        promised (Committed_AS) beside what it may (CommitLimit).
    Speaks against it: a single one: a statement that asks for too much at once (a value near 1 GB) fails alone. No
        limit of the processes, and a host that promises without counting: then a single request was larger than all
        memory and swap. A control group's limit refuses nothing: what reaches it is slowed down or killed. "out of
        shared memory" is none of these: that is the lock table (`lock_table_full`).
    Remedy: The sum of what sessions may take (work_mem times sorts and hashes, times connections,
        hash_mem_multiplier, maintenance_work_mem) beside shared_buffers against the host's memory and its limits
        (vm.overcommit_memory = 2 with vm.overcommit_ratio, ulimit -v); fewer connections by a pool.
    Verify: No new error 53200 at the busiest hour.
    Source: PostgreSQL documentation, "Linux Memory Overcommit", "Resource Consumption", "PostgreSQL Error Codes"
        (53200); getrlimit(2), RLIMIT_AS and RLIMIT_DATA; proc(5), VmPeak and VmData; Kernel documentation, "Overcommit
        Accounting" and "Control Group v2", memory.max and memory.high.
    """
    for one in of_kind(case, "out of memory"):
        by = [*_by_limit(case, one.db), *_by_promise(case, one.db)]
        yield Claim(
            phrase("Statements of {} fail for want of memory: {:count time/times}{}", one.db, round(one.count),
                   by[0].said if by else ""),
            impact=measured(one.share),
            confidence=0.95 if any(each.is_sure for each in by) else 0.9,
            severity=severity_of(one),
            for_=[*one.evidence(), *(item for each in by for item in each.evidence)],
            against=[*is_over(one), *([] if by else _nothing_refuses(case, one.db))],
            not_measured=() if _is_looked_at(case, one.db) else (UNSEEN,),
            first_steps=[step for each in by for step in each.steps],
            time_of="transactions",
            database=one.db,
        )  # fmt: skip


def _by_limit(case: Case, db: str) -> Iterator[Refused]:
    """The limits that the server's processes have, those that one of them is near to first."""
    found = [
        _of(phrase(", for a process may have no more than {:bytes} {}", limit, what), UNLIMITED,
            Sign("statistic", f"name = '{used_name}' and db = '{db}'", used / GIB, NEAR * limit / GIB,
                 "{:.2f GiB} had the largest of its processes", phrase("{:bytes} {} is its limit", limit, what),
                 phrase("{:bytes} {} is its limit: what fails asked for the rest at once", limit, what)))
        for name, used_name, what in LIMITS
        if (limit := _largest(case, name, db)) is not None and (used := _largest(case, used_name, db)) is not None
    ]  # fmt: skip
    yield from sorted(found, key=lambda each: not each.is_sure)


def _by_promise(case: Case, db: str) -> Iterator[Refused]:
    """What the host may promise, where it counts that; else that it is not what refuses."""
    how = case.setting("vm.overcommit_memory")
    promised, limit = (_largest(case, f"limits.{name}", db) for name in ("committed_bytes", "commit_limit_bytes"))
    if how == STRICT and promised is not None and limit is not None and promised >= COMMITTED * limit:
        yield _of(phrase(", for the host may promise no more than {:bytes}", limit), PROMISES,
                  Sign("statistic", f"name = 'limits.committed_bytes' and db = '{db}'", promised / GIB,
                       COMMITTED * limit / GIB, "{:.2f GiB} are promised (Committed_AS)",
                       phrase("{:bytes} may be (CommitLimit), by vm.overcommit_memory = 2", limit)))  # fmt: skip


def _nothing_refuses(case: Case, db: str) -> list[Evidence]:
    """That neither a limit nor the host's count refuses memory, where both were looked at."""
    how = case.setting("vm.overcommit_memory")
    if how is None or how == STRICT or not _is_looked_at(case, db):
        return []
    figure = phrase("no limit of addresses or data, and vm.overcommit_memory = {}", how)
    why = "then it is a request that is larger than all memory and swap together"
    return [Evidence("setting", "name = 'vm.overcommit_memory'", figure, "", why)]


def _of(said: Phrase, steps: Sequence[Words], sign: Sign) -> Refused:
    return Refused(said, [sign.evidence()], steps, is_sure=bool(sign.speaks_for))


def _is_looked_at(case: Case, db: str) -> bool:
    """Whether the limits of its processes were read: of what has none there is no figure."""
    return _largest(case, "limits.open_files", db) is not None


def _largest(case: Case, name: str, db: str) -> float | None:
    return next((one.largest for one in case.figures(name) if one.db == db), None)
