"""Memory of sessions: work_mem or the PGA, out of what shared memory and the system leave."""

from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Curve, Input, Question, Setting, Sizing, given_lines, known
from doctord.analyse.sizing.working import Given, Quantity, Step
from doctord.units import MIB

WORK_MEM: Final = 'PostgreSQL documentation, "Resource Consumption", work_mem and hash_mem_multiplier'
PGA: Final = 'Oracle Database Performance Tuning Guide 19c, "Tuning the Program Global Area"'
# A size of the PGA that spills a tenth more than the largest is as good as that.
HARDLY_MORE: Final = 1.1

INPUTS: Final = (
    Input("total", "memory of the host", "bytes", "Memory of the host: 64GiB."),
    Input("shared", "SGA or shared_buffers", "bytes", "The SGA or shared_buffers: 16GiB."),
    Input("sessions", "sessions allowed", "count", "max_connections, or the sessions at the busiest."),
    Input("sorting", "sessions at work", "count", "Sessions that sort or hash at the same time, at the busiest."),
    Input(
        "operations",
        "sorts and hashes each",
        "count",
        "Sorts and hashes of a statement that run at the same time, workers counted.",
        assumed=2,
        because="a join and a sort above it; look at the plans of the large statements",
    ),
    Input(
        "hash-multiplier",
        "hash multiplier",
        "count",
        "hash_mem_multiplier.",
        assumed=2,
        because="PostgreSQL's default (15 and later)",
    ),
    Input(
        "session",
        "memory of a session",
        "bytes",
        "What a session takes before it sorts: 10MiB.",
        assumed=10 * MIB,
        because="catalogue caches and plans of a session that has worked a while; measure Private in smaps_rollup",
    ),
    Input(
        "system",
        "left to the system",
        "share",
        "Part of the memory for kernel and page cache: 25%.",
        below=1.0,
        assumed=0.25,
        because="the page cache serves PostgreSQL's reads too; with direct I/O 10 % are enough",
    ),
    Input("work-mem", "work_mem", "bytes", "work_mem now: 4MiB.", needed=False),
    Input(
        "advice",
        "spilled by PGA",
        "bytes bytes",
        "What sorts and hashes write to and read from disk at sizes of the PGA (V$PGA_TARGET_ADVICE): "
        "4GiB:20GiB,8GiB:0.",
        needed=False,
        zero=True,
    ),
)

CAUTIONS: Final = (
    "work_mem is for each sort or hash, not for a session. A large report may SET work_mem for itself instead.",
    "Sessions that are allowed but never at work cost only their own memory: a pool keeps their number down.",
    "Oracle exceeds pga_aggregate_target when it must; pga_aggregate_limit holds it.",
)


def work_memory(
    *,
    total: Quantity,
    shared: Quantity,
    sessions: Quantity,
    sorting: Quantity,
    operations: Quantity,
    hash_multiplier: Quantity,
    session: Quantity,
    system: Quantity,
    work_mem: Quantity | None = None,
    advice: Curve | None = None,
) -> Sizing:
    """What is left = memory - shared memory - system's part - sessions; divided by the work areas in use at once."""
    own = (sessions * session).step("sessions themselves", "bytes")
    left = (total - shared - system * total - own).step("left for work areas", "bytes", PGA)
    areas = (sorting * operations * hash_multiplier).step("work areas at once", "count", WORK_MEM)
    each = (left / areas).step("for each", "bytes", WORK_MEM) if left.value > 0 else None
    target = (left + own).step("for the whole PGA", "bytes", PGA) if left.value > 0 else None
    worst = (work_mem * areas).step("work_mem now, in use at once", "bytes", WORK_MEM) if work_mem else None
    part = (worst / left).step("of what is left", "share") if worst and left.value > 0 else None
    advised, spilled = _advised(advice) if advice and advice.points else (None, None)
    enough = [part.value <= 1] if part else []
    enough += [target is not None and target.value >= advised] if advised else []
    return Sizing(
        f"work_mem of {amount(each.value, 'bytes')}, or a PGA of {amount(target.value, 'bytes')}."
        if each and target
        else "Nothing is left for sorts and hashes: fewer sessions, or less shared memory.",
        known(own, left, areas, each, target, worst, part, spilled),
        _settings(each, target, advised),
        (
            *given_lines(
                advised and f"V$PGA_TARGET_ADVICE: from {amount(advised, 'bytes')} on hardly less is spilled."
            ),
            *CAUTIONS,
        ),
        fits=False if left.value <= 0 else all(enough) if enough else None,
    )


def _advised(advice: Curve) -> tuple[float, Step | None]:
    """The least size that spills hardly more than the largest, with how much that is of it where that spills at all."""
    least = advice.points[-1][1]
    size, most = next(point for point in advice.points if point[1] <= HARDLY_MORE * least)
    there, lowest = (
        Given(f"spilled at {amount(at, 'bytes')}", spilled, "bytes", advice.origin)
        for at, spilled in ((size, most), advice.points[-1])
    )
    return size, (there / lowest).step("spilled, of the least", "share", PGA) if least else None


def _settings(each: Step | None, target: Step | None, advised: float | None) -> tuple[Setting, ...]:
    if each is None or target is None:
        return ()
    return (
        Setting("work_mem", f"{each.value // 1024:.0f}kB", "PostgreSQL; reload"),
        Setting("pga_aggregate_target", f"{min(target.value, advised or target.value) // MIB:.0f}M", "Oracle; at once"),
    )


QUESTION: Final = Question(
    "work-memory", "How much memory may sorts and hashes take (work_mem, pga_aggregate_target)?", INPUTS, work_memory
)
