"""PostgreSQL's write-ahead log: how much may gather between checkpoints, how long replaying it takes, its buffers."""

from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input, Question, Setting, Sizing, given_lines, known
from doctord.analyse.sizing.working import Number, Quantity, Step, larger, round_up
from doctord.units import MIB

XLOG: Final = "PostgreSQL, xlog.c, CalculateCheckpointSegments: max_wal_size / (1 + completion target)"
RECOVERY: Final = 'PostgreSQL documentation, "WAL Configuration"'
SEGMENT: Final = Number(16 * MIB, "bytes")
LONG_RECOVERY_S: Final = 600.0

INPUTS: Final = (
    Input("rate", "WAL rate", "bytes_per_s", "WAL written at the busiest: 12MiB/s."),
    Input(
        "timeout",
        "checkpoint_timeout",
        "s",
        "Time between checkpoints: 15min.",
        assumed=300,
        because="PostgreSQL's default",
    ),
    Input(
        "completion",
        "completion target",
        "share",
        "checkpoint_completion_target: 0.9.",
        assumed=0.9,
        because="PostgreSQL's default (14 and later)",
    ),
    Input(
        "flush-every",
        "time between flushes",
        "s",
        "The longest time in which WAL gathers in its buffers: 200ms.",
        assumed=0.2,
        because="wal_writer_delay's default; each commit flushes sooner",
    ),
    Input("max-wal-size", "max_wal_size", "bytes", "max_wal_size now: 1GiB.", needed=False),
    Input("replay-rate", "replay rate", "bytes_per_s", "WAL replayed in recovery: 50MiB/s.", needed=False),
)


def wal(
    *,
    rate: Quantity,
    timeout: Quantity,
    completion: Quantity,
    flush_every: Quantity,
    max_wal_size: Quantity | None = None,
    replay_rate: Quantity | None = None,
) -> Sizing:
    """max_wal_size = WAL rate x checkpoint_timeout x (1 + completion target), so that time begins checkpoints."""
    between = (rate * timeout).step("WAL between checkpoints", "bytes")
    wanted = (between * (1 + completion)).step("max_wal_size wanted", "bytes", XLOG)
    now = (max_wal_size / (1 + completion) / rate).step("a checkpoint now every", "s", XLOG) if max_wal_size else None
    recovery = (wanted / replay_rate).step("recovery, at the longest", "s", RECOVERY) if replay_rate else None
    buffers = larger(SEGMENT, rate * flush_every).step("WAL buffers", "bytes")
    return Sizing(
        f"max_wal_size of {amount(wanted.value, 'bytes')} lets checkpoints come by time, every "
        f"{amount(timeout.value, 's')}.",
        known(between, wanted, now, recovery, buffers),
        (
            Setting("max_wal_size", _megabytes(wanted), "reload; the disk of pg_wal must hold it, and more"),
            Setting("wal_buffers", _megabytes(buffers), "restart"),
        ),
        _cautions(now, timeout, recovery),
        max_wal_size.value >= wanted.value if max_wal_size else None,
    )


def _cautions(now: Step | None, timeout: Quantity, recovery: Step | None) -> tuple[str, ...]:
    return given_lines(
        now is not None
        and now.value < timeout.value
        and "Now the log fills up before the time is over: checkpoints are requested, and each brings full page "
        "images, which make more WAL.",
        recovery is not None
        and recovery.value > LONG_RECOVERY_S
        and "Recovery after a crash takes that long at worst: a shorter checkpoint_timeout makes it shorter, for more "
        "full page images.",
        recovery is None
        and "How long recovery takes is not told: --replay-rate says how fast WAL is replayed (the log of a recovery, "
        "or of a standby that catches up, tells).",
        "The rate is the mean of its interval: the busiest minutes are above it.",
        "Checkpoints further apart bring fewer full page images: the rate itself falls. Measure it again.",
    )


def _megabytes(step: Step) -> str:
    return f"{round_up(step / MIB).value:.0f}MB"


QUESTION: Final = Question(
    "wal",
    "How large should PostgreSQL's max_wal_size and wal_buffers be, and how long does recovery take?",
    INPUTS,
    wal,
)
