"""Redo logs: how large, how many, and how large a buffer before them."""

from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input, Question, Setting, Sizing, given_lines, known
from doctord.analyse.sizing.working import Assumed, Quantity, Step, larger, round_up
from doctord.errors import UserError
from doctord.units import MIB

M08: Final = "K. Manoharan's redo case, 2008"
GUIDE: Final = 'Oracle Database Administrator\'s Guide 19c, "Planning the Size of Redo Log Files"'
D12: Final = 'J. Doelle and S. Langer, "Analyzing BI Oracle workloads", 2012'
# One group is written; the database writer still works on what the one before it protects.
BESIDES_ARCHIVING: Final = 2
FEWEST: Final = 4
LARGE_BUFFER: Final = 1e8

INPUTS: Final = (
    Input("rate", "redo rate", "bytes_per_s", "Redo at the busiest: 9.45MiB/s."),
    Input(
        "size", "log size", "bytes", "Size of a log now, for the interval between its switches: 500MiB.", needed=False
    ),
    Input("groups", "log groups", "count", "Number of groups now.", needed=False),
    Input(
        "switch-every",
        "switch interval wanted",
        "s",
        "Time between two switches at the busiest: 20min.",
        assumed=20 * 60,
        because="a switch every 15 to 20 minutes at the busiest is the usual rule",
    ),
    Input("archive-rate", "archive rate", "bytes_per_s", "What the archiver copies: 70MiB/s.", needed=False),
    Input("archive-time", "archive time", "s", "Or how long it takes for a log of the size now: 2min.", needed=False),
    Input("buffer", "log buffer", "bytes", "Size of the log buffer now: 4MiB.", needed=False),
    Input(
        "buffer-for",
        "time buffered",
        "s",
        "Time of redo that the log buffer is to hold: 5s.",
        assumed=72 / 14,
        because="72 MB held for up to 14 MB/s in K. Manoharan's redo case, 2008",
    ),
)


def redo(
    *,
    rate: Quantity,
    switch_every: Quantity,
    buffer_for: Quantity,
    size: Quantity | None = None,
    groups: Quantity | None = None,
    archive_rate: Quantity | None = None,
    archive_time: Quantity | None = None,
    buffer: Quantity | None = None,
) -> Sizing:
    """Size of a log = redo rate x time between switches; groups that the archiver cannot hold up; log buffer."""
    if archive_time and not size:
        raise UserError("size redo: the archive time is that of a log of what size?", "give --size, or --archive-rate")
    interval = (size / rate).step("switch interval", "s", M08) if size else None
    copied = (size / archive_time).step("archive rate", "bytes_per_s") if size and archive_time else None
    archive_rate = archive_rate or copied
    lasts = (archive_time / interval).step("archive time of that", "share", M08) if archive_time and interval else None
    wanted = (rate * switch_every).step("size of a log", "bytes", GUIDE)
    archiving = (wanted / archive_rate).step("time to archive one", "s") if archive_rate else None
    count = _groups(archiving, switch_every)
    free = ((count - 1) * switch_every).step("until it is needed again", "s", M08)
    part = (archiving / free).step("archiving takes of that", "share", M08) if archiving else None
    room = (rate * buffer_for).step("log buffer", "bytes", M08)
    late = archiving is not None and archiving.value > switch_every.value
    log = f"{round_up(wanted / MIB).value:.0f}M"
    groups_step = count if isinstance(count, Step) else None
    return Sizing(
        f"{count.value:.0f} groups of logs of {amount(wanted.value, 'bytes')}, and a log buffer of "
        f"{amount(room.value, 'bytes')}.",
        known(interval, lasts, copied, wanted, archiving, groups_step, free, part, room),
        (
            Setting("size of each redo log", log, f"{count.value:.0f} groups, apart from data files and archive"),
            Setting("log_buffer", f"{room.value:.0f}", "bytes; never below the default; needs a restart"),
        ),
        _cautions(room, archiving, late=late),
        _fits((interval, switch_every), (groups, count), (buffer, room), late=late),
    )


def _groups(archiving: Step | None, switch_every: Quantity) -> Quantity:
    """How many groups: those being archived, and two besides; four at least."""
    fewest = Assumed("groups", FEWEST, "count", f"four and more: {D12}")
    if archiving is None:
        return fewest
    return larger(fewest, round_up(archiving / switch_every) + BESIDES_ARCHIVING).step("groups wanted", "count", M08)


def _cautions(room: Step, archiving: Step | None, *, late: bool) -> tuple[str, ...]:
    return given_lines(
        late
        and "The archiver takes longer than a log lasts: however many groups there are, it falls behind while redo "
        "comes that fast. Give it faster disks, or more archiver processes.",
        archiving is None and "Whether the archiver keeps up is not told: --archive-rate says how fast it copies.",
        room.value < LARGE_BUFFER and f"For large loads 100 MB of log buffer and more are advised: {D12}.",
        "The rate is the mean of its interval: the busiest minutes are above it.",
        "A log switched that seldom holds more that only the redo log protects: a standby may need archive_lag_target.",
    )


def _fits(*pairs: tuple[Quantity | None, Quantity], late: bool) -> bool | None:
    """Whether all that is there now is at least what is wanted; null where nothing of it is known."""
    held = [has.value >= wants.value for has, wants in pairs if has is not None]
    return all(held) and not late if held or late else None


QUESTION: Final = Question(
    "redo", "How large and how many redo logs does Oracle need, and how large a log buffer?", INPUTS, redo
)
