"""Files that are waited long for: by a traced program, or by a database, whose other files are quicker."""

from collections.abc import Iterator

from doctord.analyse.storage.file_reads import FileReads, file_reads, others
from doctord.dataset.calltrace import Target, Trace
from doctord.dataset.waits.kinds import READS
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.storage.way_to_disk import path_to
from doctord.diagnose.causes.traces.cost import of_busy
from doctord.diagnose.common.by_server import waited_by_server
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import Phrase, listed, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# More than a disk drive at work takes with the seeks of a full queue before it.
SLOW_S = 0.05
# Fewer are a file's first block, or chance.
LEAST_CALLS = 5
# A terminal waits for a person, these others for something to happen.
FILE = regex(r"/(?!dev/(pts/|tty|console|ptmx|kmsg|input/|fuse|net/|watchdog|hpet|rtc)|proc/kmsg|sys/)")
# A database's reads: a disk at low load takes 4 to 12 ms, beyond 20 the request queued somewhere. What takes three
# times as long as all others lies on something else than they do, or beside another neighbour.
SLOW_READ_MS = 20.0
UNLIKE_OTHERS = 3.0
# A mean of fewer reads than this may be one slow moment.
LEAST_READS_PER_S = 1.0
# 128 KiB of 8 KiB blocks: from there on a disk moves data for longer than it seeks.
LARGE_READ_BLOCKS = 16.0
# Of the time of all reads: then the slow reads of the server are this file's.
MOST_OF_READS = 0.5
NOT_SEEN = NotMeasured(
    "what the file lies on, and who else uses it",
    "a trace sees the program's side alone",
    "iostat -x, or nfsiostat for a file of a network; fuser -v on the file",
)


@cause()
def slow_file(case: Case) -> Iterator[Claim]:
    """A program waits long for each of its calls on one file or device, or a database for each read, unlike its others.

    Looks like: reads, writes or syncs of one path of 50 ms and longer each, which hold much of the traced time; reads
        of a data file or tablespace of 20 ms and more, three times as long as those of the server's other files.
    Hurts because: the program does nothing else until the call returns; statements that read this file wait, whatever
        the mean of all reads says.
    Speaks for it: calls on that path, their mean time, and their share of the time that was traced; reads and
        milliseconds by file or tablespace as the server counts them, the devices below, what the others take.
    Speaks against it: a file that another process writes and this one waits for, as a log that is followed; so many
        more reads of this file than of the others that they queue for each other; large reads beside small ones.
    Remedy: Look what the path is: a disk or a network file system that is slow (iostat -x, nfsiostat), or a
        device that gives little by itself: /dev/random of kernels before 5.6 waits for entropy; /dev/urandom does not.
        Move a data file to where the others are, or what is read most in it to a file elsewhere.
    Verify: Another trace: milliseconds for each call on that path; milliseconds of a read of that file at the same
        reads per second.
    Source: Linux manual pages, random(4), read(2); B. Gregg, "Systems Performance", 2nd ed., 2020; Oracle Database
        Reference, V$FILESTAT; PostgreSQL documentation, pg_statio_all_tables and track_io_timing.
    """
    if case.trace is not None:
        yield from _traced(case.trace)
    yield from _of_databases(case)


def _traced(trace: Trace) -> Iterator[Claim]:
    """Files that a traced program waits for."""
    slow = [target for target in trace["targets"] if _is_slow(target)]
    for target in slow[:3]:
        spent = of_busy(trace, target["seconds"])
        if spent is None or not spent.worth_saying:
            continue
        name, each_s = shortened(target["target"], 50), target["seconds"] / target["calls"]
        yield Claim(
            phrase("{} takes {:time} for each call, {}", name, each_s, spent.told),
            impact=spent.share,
            time_of=spent.of,
            confidence=0.75,
            for_=[
                Evidence(
                    "trace",
                    f"target = '{name}'",
                    phrase("{:time} for each of {:,} calls", each_s, target["calls"]),
                    phrase("{:time}", SLOW_S),
                    phrase("{:bytes} read", target["read_bytes"]) if target["reads"] else "",
                    "at_least",
                )
            ],
            not_measured=[NOT_SEEN],
        )


def _is_slow(target: Target) -> bool:
    """Whether calls on a file take long; of a file that is locked more than it is read, the lock is waited for."""
    calls, moved = target["calls"], target["reads"] + target["writes"] + target["syncs"]
    is_file = FILE.match(target["target"]) is not None and 2 * moved >= calls
    return is_file and calls >= LEAST_CALLS and target["seconds"] >= SLOW_S * calls


def _of_databases(case: Case) -> Iterator[Claim]:
    """Of each server the slow data files or tablespaces, where its others are quicker."""
    places = file_reads(case.dataset)
    for db in dict.fromkeys(place.db for place in places):
        own = [place for place in places if place.db == db]
        slow = sorted((place for place in own if _is_unlike(place, own)), key=lambda place: -place.sessions)
        if slow and (claim := _claim(case, slow, own)) is not None:
            yield claim


def _is_unlike(place: FileReads, own: list[FileReads]) -> bool:
    """Whether reads of a place are slow, and much slower than those of the server's other places together."""
    rest = others(place, own)
    is_slow = place.per_s >= LEAST_READS_PER_S and place.read_ms >= SLOW_READ_MS
    is_known = rest is not None and rest.per_s >= LEAST_READS_PER_S
    return is_slow and is_known and rest is not None and place.read_ms >= UNLIKE_OTHERS * rest.read_ms


def _claim(case: Case, slow: list[FileReads], own: list[FileReads]) -> Claim | None:
    """What is said of the slow places of one server; nothing where they take little of its time."""
    quick = [place for place in own if place not in slow]
    sessions, all_sessions = sum(place.sessions for place in slow), sum(place.sessions for place in own)
    waited = waited_by_server(case, *READS)
    share = (waited.get(own[0].db or "", 0.0) if waited else case.time.kind_share(*READS)) * sessions / all_sessions
    if case.is_time_measured and not case.worth_saying(share):
        return None
    first, quick_per_s = slow[0], sum(place.per_s for place in quick)
    quick_ms = sum(place.sessions for place in quick) / quick_per_s * 1000 if quick_per_s else None
    for_, against = weigh([sign for place in slow[:3] for sign in _signs(place, quick_ms, quick_per_s)])
    ways = [way for device in dict.fromkeys(device for place in slow for device in place.devices[-1:])
            for way in path_to(case, device)]  # fmt: skip
    return Claim(
        phrase("A read of {} takes {:.0f ms}{}", _named(slow), first.read_ms,
               "" if quick_ms is None else phrase(", of the others {:.1f ms}", quick_ms)),
        impact=at_most(share) if case.is_time_measured else NOT_MEASURED,
        confidence=0.6 if against or first.told_by == "disk" else 0.85,
        for_=[*for_, *ways[:2]],
        against=against,
        database=first.db,
        explains=("reads_slow",) if sessions >= MOST_OF_READS * all_sessions else (),
    )  # fmt: skip


def _named(slow: list[FileReads]) -> Phrase:
    rest = len(slow) - 1
    more = phrase(" and {} other", rest) if rest == 1 else phrase(" and {} others", rest)
    return phrase("{} {}{}", slow[0].kind, shortened(slow[0].name, 50), more if rest else "")


def _signs(place: FileReads, quick_ms: float | None, quick_per_s: float) -> Iterator[Sign]:
    """How slow a place is against the others; that it is read more than all of them may be why."""
    by_device = place.told_by == "disk"
    rows = f"device = '{place.devices[-1]}'" if by_device else f"name = '{place.told_by}' and entity = '{place.name}'"
    told = phrase("{:.1f reads/s}{}", place.per_s,
                  "" if quick_ms is None else phrase("; the others take {:.1f ms}", quick_ms))  # fmt: skip
    yield Sign("disk" if by_device else "statistic", rows, place.read_ms, SLOW_READ_MS, "{:.1f ms} a read",
               listed("at its device" if by_device else "", told), subject=shortened(place.name, 50))  # fmt: skip
    name, entity = shortened(place.name, 50), f"entity = '{place.name}'"
    yield Sign("statistic", entity, place.per_s, quick_per_s, "{:.0f reads/s}", "",
               "more than of all others together: they may queue for each other", below=True, subject=name)  # fmt: skip
    yield Sign("statistic", entity, place.blocks_per_read, LARGE_READ_BLOCKS, "{:.0f} blocks a read", "",
               "large reads take longer than small ones", below=True, subject=name)  # fmt: skip
