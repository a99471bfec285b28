"""What a call trace shows of how a program reads, writes, asks for names, and takes memory."""

from collections.abc import Iterator

from doctord.analyse.traces.call_sums import class_sums
from doctord.analyse.traces.calls import of_class, on_path, seconds_of
from doctord.dataset.calltrace import Call, Growth, Target, Trace
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.traces.cost import Cost, of_busy, of_pass
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, listed, phrase
from doctord.diagnose.words import shortened, who
from doctord.regex import regex

# The page of memory and the block of most file systems: whoever reads less asks again for what the kernel holds ready.
SMALL_READ_BYTES = 4096
# What is done fewer times than this is the start of a program, or chance.
OFTEN = 1000
SMALL_WRITE_BYTES = 64 * 1024
SYNCS_TO_TELL = 20
# An extent filled by equal pieces is a pattern; the loader of libraries and thread stacks map different sizes.
PIECES = 2
FILLED_SHARE = 0.8
GROWTH_BYTES = 16 * 2**20
# A huge page of x86; a piece this large holds one.
HUGE_PAGE_BYTES = 2 * 2**20
SIZES_UNSEEN = NotMeasured("Size of the reads", "a summary has none", "Trace without -c for a minute.")
NAME_SERVICE = regex(
    r"/etc/(hosts|resolv\.conf|nsswitch\.conf|host\.conf|gai\.conf)\b|\bnscd\b|/sss/|systemd/resolve|\bldap"
    r"|htons\((53|389|636)\)|port = (53|389|636)\b|:(53|389|636)\b(?!:)"
)


@cause()
def tiny_reads(case: Case) -> Iterator[Claim]:
    """A file is read in small pieces, with a call for each.

    Looks like: hundreds of thousands of read() calls, each of a few bytes, often with an lseek() before it.
    Hurts because: each piece costs two changes to the kernel and back, which take longer than copying it.
    Speaks for it: mean size of a read, a seek for each read, time in both.
    Speaks against it: reads of a page and more, or descriptors that are sockets and pipes, where the sender decides.
    Remedy: Read in blocks: a buffer in the program (stdio, a larger array size or fetch size), mmap() for lookups all
        over a file, pread() in place of lseek() and read().
    Verify: Another trace: fewer calls per MB, and less of the time in them.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008 (639326 reads and 608657 seeks took 50 s of 126).
    """
    if case.trace is None:
        yield from _reads_in_sums(case)
        return
    reads, seeks = list(of_class(case.trace, "read")), list(of_class(case.trace, "seek"))
    read_count, seek_count = _count(reads), _count(seeks)
    spent = of_busy(case.trace, seconds_of([*reads, *seeks]))
    small = [target for target in case.trace["targets"] if _is_read_in_pieces(target)]
    by_seeks = case.trace["trace"]["kind"] == "summary" and seek_count >= read_count / 2 and read_count >= OFTEN
    if spent is None or not spent.worth_saying or not (small or by_seeks):
        return
    yield Claim(
        phrase("Files are read in {} small pieces, {}", read_count, spent.told),
        impact=spent.share,
        time_of=spent.of,
        confidence=0.85 if small else 0.6,
        for_=[_reads_and_seeks(reads, seeks, spent), *(_read_in_pieces(target) for target in small[:3])],
        not_measured=() if small else [SIZES_UNSEEN],
    )


def _reads_in_sums(case: Case) -> Iterator[Claim]:
    """The same of sums of calls that stand among other files: they tell no sizes, but a seek before each read."""
    sums = class_sums(case.dataset)
    reads, seeks = sums.get("read"), sums.get("seek")
    if reads is None or seeks is None or reads.count < OFTEN or seeks.count < reads.count / 2:
        return
    spent = Cost(reads.share + seeks.share, "busy")
    if not spent.worth_saying:
        return
    yield Claim(
        phrase("Files are read in {:.0f} small pieces, {:share} of the time that was traced", reads.count, spent.share),
        impact=spent.share,
        time_of=spent.of,
        confidence=0.6,
        for_=[
            Evidence(
                "wait",
                "db is null",
                phrase(
                    "{}, {:time}: {:.0f} reads and {:.0f} seeks",
                    spent.told,
                    reads.seconds + seeks.seconds,
                    reads.count,
                    seeks.count,
                ),
                phrase("{:share}", spent.threshold),
                phrase("{:.2f} seeks for each read", seeks.count / reads.count),
                "at_least",
            )
        ],
        not_measured=[SIZES_UNSEEN],
    )


@cause()
def name_service_on_request_path(case: Case) -> Iterator[Claim]:
    """A request waits for the name service: DNS, NIS, LDAP, or the files in their place.

    Looks like: connections or reads to port 53, nscd, sssd or LDAP, /etc/hosts and /etc/resolv.conf opened anew, in
        each pass or by each child.
    Hurts because: one slow or dead name server stops everything for its timeout, usually seconds, and it fails at a
        time of its own.
    Speaks for it: the time of those calls, in the pass or in all.
    Speaks against it: lookups at the start only, or by processes for which nobody waits.
    Remedy: Turn off what looks up names of clients (log_hostname in PostgreSQL, skip_name_resolve in MySQL), write
        addresses into access rules and listeners, or cache names on this host.
    Verify: Another trace: no call to the name service between accept and answer.
    Source: R. Milkowski, "Oracle's listener performance", 2008; resolv.conf(5): 5 s timeout, 2 attempts.
    """
    if case.trace is None:
        return
    spent, seen = _name_service(case.trace)
    if spent is None or not spent.worth_saying:
        return
    yield Claim(
        phrase("A request waits for the name service, {}", spent.told),
        impact=spent.share,
        time_of=spent.of,
        confidence=0.85 if spent.of == "pass" else 0.6,
        for_=[Evidence("trace", where, what, phrase("{:share}", spent.threshold), "") for where, what in seen[:4]],
    )


@cause()
def sync_per_write(case: Case) -> Iterator[Claim]:
    """Each small write is forced to disk before the next one is made.

    Looks like: fsync() or fdatasync() about as often as write(), each write of a few kilobytes, and much time in them.
    Hurts because: a disk takes as long for a few kilobytes as for hundreds; each sync waits for it to answer.
    Speaks for it: syncs per write, bytes per write, time in the syncs.
    Speaks against it: large writes, or syncs that take little of the time.
    Remedy: Gather several changes before each sync: one transaction for many rows, group commit (commit_delay), a
        larger batch; where the last second may be lost, synchronous_commit = off.
    Verify: Another trace: fewer syncs per second and more bytes between two of them.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008 (log file sync); PostgreSQL documentation, commit_delay.
    """
    if case.trace is None:
        return
    each = [target for target in case.trace["targets"] if _is_synced_at_each_write(target)]
    syncing = on_path(case.trace, "sync")
    spent = of_pass(case.trace, sum(part["seconds"] for part in syncing)) if syncing else None
    spent = spent or of_busy(case.trace, seconds_of(of_class(case.trace, "sync")))
    if not each or spent is None or not spent.worth_saying:
        return
    yield Claim(
        phrase("{} is synced at each small write, {}", shortened(each[0]["target"], 50), spent.told),
        impact=spent.share,
        time_of=spent.of,
        confidence=0.85,
        for_=[_synced(target) for target in each[:3]],
    )


@cause()
def page_size_not_requested(case: Case) -> Iterator[Claim]:
    """Memory is taken in small pieces, with many calls, and no larger pages are asked for.

    Looks like: an extent is reserved and then mapped 64 KiB at a time, with neither memcntl(MC_HAT_ADVISE) nor
        madvise(MADV_HUGEPAGE) for it.
    Hurts because: the memory stays in the smallest pages: more entries of the address translation, more misses of it,
        and a call for each piece.
    Speaks for it: size of the pieces, calls per MB, no request.
    Speaks against it: pieces of a huge page and more, a request for a page size, little memory in all. Transparent huge
        pages may come without a request: then only the calls are left.
    Remedy: Have larger pieces mapped and a page size asked for: larger heap or work-area pages (in Oracle,
        _realfree_heap_pagesize_hint; on Solaris MPSSHEAP or ppgsz), MALLOC_ARENA settings or madvise on Linux.
    Verify: Another trace: pieces and requests have the new size; the same work takes less time.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008 (a sort took 18 % less with 4 MB heap pages than with 64 KB).
    """
    for growth in case.trace["memory"] if case.trace else []:
        piece = max(growth["chunks"], key=lambda chunk: chunk["count"], default=None)
        if piece is None or growth["page_size_requested"] or piece["bytes"] >= HUGE_PAGE_BYTES:
            continue
        alike = piece["count"] * piece["bytes"] >= FILLED_SHARE * growth["mapped_bytes"]
        filled = bool(growth["extents"]) and alike and piece["count"] >= PIECES
        if filled or (growth["mapped_bytes"] >= GROWTH_BYTES and growth["calls"] >= OFTEN):
            yield Claim(
                phrase("{} maps {:bytes} at a time and asks for no page size", who(growth["role"]), piece["bytes"]),
                impact=NOT_MEASURED,
                confidence=0.6,
                for_=[_growth(growth, piece["bytes"], piece["count"])],
                not_measured=[
                    NotMeasured(
                        "The pages in use",
                        "a call trace shows requests only",
                        "pmap -xs PID on Solaris; AnonHugePages in /proc/PID/smaps_rollup on Linux.",
                    )
                ],
            )


def _count(calls: list[Call]) -> int:
    return sum(call["count"] for call in calls)


def _reads_and_seeks(reads: list[Call], seeks: list[Call], spent: Cost) -> Evidence:
    seconds = seconds_of([*reads, *seeks]) or 0.0
    sought = _count(seeks) / _count(reads)
    why = phrase("{:.2f} seeks for each read", sought) if sought >= 0.01 else "hardly a seek among them"
    what = phrase("{}, {:time}: {} reads and {} seeks", spent.told, seconds, _count(reads), _count(seeks))
    return Evidence("trace", "calls", what, phrase("{:share}", spent.threshold), why, "at_least")


def _is_read_in_pieces(target: Target) -> bool:
    """Whether it is a file, read often and in pieces; what comes through a socket or pipe is as small as was sent."""
    often = target["target"].startswith("/") and target["reads"] >= OFTEN
    return often and target["read_bytes"] < SMALL_READ_BYTES * target["reads"]


def _read_in_pieces(target: Target) -> Evidence:
    mean = phrase("{:bytes} on average", target["read_bytes"] / target["reads"])
    per_mb = target["calls"] / (target["read_bytes"] / 2**20) if target["read_bytes"] else None
    calls = phrase(", {:.0f} calls per MiB", per_mb) if per_mb else ""
    what = phrase("{} in {} reads from {}{}", mean, target["reads"], shortened(target["target"], 50), calls)
    return Evidence(
        "trace",
        "targets",
        what,
        phrase("{:bytes}", SMALL_READ_BYTES),
        "the kernel reads whole pages",
        "at_most",
    )


def _is_synced_at_each_write(target: Target) -> bool:
    often = target["syncs"] >= SYNCS_TO_TELL and target["syncs"] >= target["writes"] / 2 > 0
    return often and target["written_bytes"] < SMALL_WRITE_BYTES * target["writes"]


def _synced(target: Target) -> Evidence:
    mean = phrase("{:bytes} on average", target["written_bytes"] / target["writes"])
    name = shortened(target["target"], 50)
    what = phrase("{} in {} writes to {}, with {} syncs", mean, target["writes"], name, target["syncs"])
    return Evidence(
        "trace",
        "targets",
        what,
        phrase("{:bytes}", SMALL_WRITE_BYTES),
        "each waits for the disk",
        "at_most",
    )


def _name_service(trace: Trace) -> tuple[Cost | None, list[tuple[str, Phrase]]]:
    """What the name service costs, in the pass where it is on the path, and where it was seen."""
    waits = [wait for wait in trace["loop"]["waits"] if wait["on"] == "name service"] if trace["loop"] else []
    parts = [part for part in trace["loop"]["path"] if NAME_SERVICE.search(part["arguments"])] if trace["loop"] else []
    a_pass = max(sum(wait["seconds"] for wait in waits), sum(part["seconds"] for part in parts))
    targets = [target for target in trace["targets"] if NAME_SERVICE.search(target["target"])]
    steps = [*waits, *parts] if a_pass else []
    seen = [
        ("loop", phrase("{}({}), {:time} a pass", step["call"], shortened(step["arguments"], 60), step["seconds"]))
        for step in steps
    ]
    seen += [
        (
            "targets",
            phrase(
                "{} calls to {}, {:time}", target["calls"], shortened(target["target"], 60), target["seconds"] or 0.0
            ),
        )
        for target in targets
    ]
    on_pass = of_pass(trace, a_pass) if a_pass else None
    if on_pass and on_pass.worth_saying:
        return on_pass, seen
    return of_busy(trace, sum(target["seconds"] or 0.0 for target in targets)), seen


def _growth(growth: Growth, piece_bytes: int, pieces: int) -> Evidence:
    extents = listed(*(phrase("{:bytes}", extent["bytes"]) for extent in growth["extents"][:3]))
    reserved = phrase(" in extents of {}", extents) if extents.values else ""
    per_mb = "" if growth["calls_per_mb"] is None else phrase(", {:.1f} calls per MiB", growth["calls_per_mb"])
    what = phrase("pieces of {:bytes}, {} of them{}{}", piece_bytes, pieces, reserved, per_mb)
    return Evidence(
        "trace",
        "memory",
        what,
        phrase("{:bytes}", HUGE_PAGE_BYTES),
        "no page size was asked for",
        "at_most",
    )
