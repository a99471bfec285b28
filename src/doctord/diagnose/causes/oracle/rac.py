"""Oracle's clusters: blocks that travel between instances, and what holds them up."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import counted, leaders
from doctord.diagnose.common.waited import behind, events_like, mean_ms, share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

TRANSFERS = ("gc cr block 2-way", "gc cr block 3-way", "gc current block 2-way", "gc current block 3-way")
GRANTS = ("gc cr grant 2-way", "gc current grant 2-way", "gc current grant busy", "gc cr multi block request",
          "gc cr multi block grant", "gc cr multi block mixed")  # fmt: skip
OWNER_BUSY = ("gc cr block busy", "gc current block busy")
LOCALLY_BUSY = ("gc buffer busy", "gc buffer busy acquire", "gc buffer busy release", "gc current split",
                "gc current retry")  # fmt: skip
LOST = ("gc cr block lost", "gc current block lost")
LOG_WRITE = "log file parallel write"
PINGS = ("interconnect_ping.500B ping_ms", "interconnect_ping.8K ping_ms")
FLUSHES = ("gc_workload.Avg global cache cr block flush time", "gc_workload.Avg global cache current block flush time")
# A block takes a few hundred microseconds over a quick interconnect, a millisecond over a plain one.
SLOW_TRANSFER_MS = 2.0
QUICK_TRANSFER_MS = 0.5
# A lost block is asked for again only after half a second or more: a few a minute are felt.
LOST_PER_S = 0.05
SLOW_LOG_MS = 5.0
MUCH = 0.2


@cause()
def cluster_hot_blocks(case: Case) -> Iterator[Claim]:
    """Instances fight for the same blocks.

    Looks like: gc buffer busy acquire and release, gc current block busy, gc cr block busy.
    Hurts because: a block that is being changed on one instance has to be given up, with its redo on disk, before
        another can have it; sessions of that other queue meanwhile.
    Speaks for it: share of the time, the segments.
    Speaks against it: quick transfers with a slow log write on the owner: then the log.
    Remedy: Let the work that shares those blocks run on one instance (a service for it); spread the hot segment (hash
        partitions of table and index); sequences with a large cache, no order; reverse or scalable keys.
    Verify: gc buffer busy of the segment, and the share of the events.
    Source: Oracle Real Application Clusters Administration and Deployment Guide 19c, "Monitoring Performance"; K.
        Gopalakrishnan, Oracle Database 10g Real Application Clusters Handbook, 2007.
    """
    events = (*LOCALLY_BUSY, *OWNER_BUSY)
    part = share(case, *events)
    if not case.worth_saying(part):
        return
    yield Claim(
        phrase("Instances wait for blocks that others change: {:share of database}", part),
        impact=part,
        confidence=0.85,
        for_=[
            *waited(case, *events),
            *leaders(case, "v$segment_statistics.gc buffer busy", "where they meet"),
            *leaders(case, "v$segment_statistics.gc current blocks received", "what travels to be changed", 2),
        ],
    )


@cause(explains=("cluster_hot_blocks",))
def cluster_waits_for_log(case: Case) -> Iterator[Claim]:
    """Blocks wait on their owner until its log writer has flushed.

    Looks like: gc current block busy and gc cr block busy with a slow log write on the instance that owns them.
    Hurts because: a changed block may leave an instance only when its redo is on disk: a slow log slows all others.
    Speaks for it: log file parallel write, and the flush times of the global cache profile.
    Speaks against it: log writes that are quick: then the blocks are hot.
    Remedy: As for slow commits: a quicker log device, a log writer that gets a CPU, on every instance.
    Verify: The flush times, and the share of the busy events.
    Source: Oracle Real Application Clusters Administration and Deployment Guide 19c, "Monitoring Performance"; R.
        Shamsudeen, "RAC performance tuning: gc buffer busy", 2011.
    """
    part = share(case, *OWNER_BUSY)
    write = case.background.get(LOG_WRITE)
    flush_ms = max((figure.largest for name in FLUSHES for figure in case.figures(name)), default=None)
    for_, _ = weigh(
        [
            Sign("wait", f"event = '{LOG_WRITE}'", write.ms if write else None, SLOW_LOG_MS, "log writes of {:.1f ms}",
                 "a block leaves only after its redo"),
            Sign("statistic", f"name in {FLUSHES}", flush_ms, SLOW_LOG_MS, "flushes of {:.1f ms} for the global cache",
                 "measured on the owner"),
        ]
    )  # fmt: skip
    if for_ and case.worth_saying(part):
        yield Claim(
            phrase("Blocks wait for the log writer of the instance that owns them: {:share of database}", part),
            impact=part,
            confidence=0.8,
            for_=[*waited(case, *OWNER_BUSY), *for_],
        )


@cause()
def interconnect_slow(case: Case) -> Iterator[Claim]:
    """Blocks take long to travel between instances though nobody holds them.

    Looks like: gc cr block 2-way and 3-way, gc current block 2-way and 3-way of milliseconds.
    Hurts because: each block that another instance has costs that much more.
    Speaks for it: the mean of the transfers, ping times, lost blocks, the time to receive in the global cache profile.
    Speaks against it: pings as quick as they should be: then the processes that serve blocks (LMS) are slow.
    Remedy: The interconnect: its own network with jumbo frames, no switch shared with other traffic, no errors; LMS
        in real-time priority and enough of them; hosts with free CPUs.
    Verify: The mean of the 2-way transfers, and the ping times.
    Source: Oracle Real Application Clusters Administration and Deployment Guide 19c, "Monitoring Performance"; Oracle
        Support, "gc block lost and interconnect" (Doc ID 563566.1).
    """
    waits = [case.waits[event] for event in TRANSFERS if event in case.waits]
    ms, part = mean_ms(waits), share(case, *TRANSFERS)
    if ms is None or ms < SLOW_TRANSFER_MS or not case.worth_saying(part):
        return
    pings = [figure.mean for name in PINGS for figure in case.figures(name)]
    for_, against = weigh(
        [
            Sign("statistic", f"name in {PINGS}", max(pings, default=None),
                 SLOW_TRANSFER_MS, "pings of {:.1f ms}", "the network itself is slow",
                 "the network is quick: look at the LMS processes"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("A block takes {:.1f ms} from one instance to another: {:share of database}", ms, part),
        impact=part * (1 - QUICK_TRANSFER_MS / ms),
        confidence=0.7 if against else 0.8,
        for_=[
            *waited(case, *TRANSFERS),
            *for_,
            *_profile(case, "receive time"),
            *counted(case, "v$sysstat.gc blocks lost", "{:rate lost blocks}"),
        ],
        against=against,
    )


@cause(explains=("interconnect_slow",))
def cluster_blocks_lost(case: Case) -> Iterator[Claim]:
    """Blocks are lost on the interconnect.

    Looks like: gc cr block lost, gc current block lost; gc blocks lost in the statistics.
    Hurts because: a session notices only after a timeout, and asks again.
    Speaks for it: blocks lost per second, the time waited for them.
    Speaks against it: a host that swaps or has no CPU: then its network buffers overflow.
    Remedy: Errors and drops on the interfaces and the switch, socket buffers (net.core.rmem_max), one MTU on
        all, cables; then fragmentation (netstat -s: packet reassembles failed).
    Verify: gc blocks lost stands still.
    Source: Oracle Support, "gc block lost and interconnect" (Doc ID 563566.1).
    """
    part = share(case, *LOST)
    lost = case.total("v$sysstat.gc blocks lost")
    waits = sum(case.waits[event].per_second or 0.0 for event in LOST if event in case.waits)
    often = max(lost or 0.0, waits)
    if often < LOST_PER_S and not case.worth_saying(part):
        return
    yield Claim(
        phrase("{:rate blocks} are lost between the instances", often),
        impact=case.felt(part),
        confidence=0.9,
        for_=[
            *waited(case, *LOST),
            *counted(case, "v$sysstat.gc blocks lost", "{:rate lost blocks}", "none"),
        ],
    )


@cause()
def cluster_congested(case: Case) -> Iterator[Claim]:
    """The processes that serve blocks to other instances do not keep up.

    Looks like: events gc ... congested.
    Hurts because: a request waits in the queue of an LMS process before anything is done about it.
    Speaks for it: share of the time.
    Speaks against it: free CPUs and real-time LMS: then their number.
    Remedy: Relieve the CPUs; LMS in real-time priority; more LMS processes (gcs_server_processes) where there are CPUs;
        less block traffic.
    Verify: The congested events are gone.
    Source: Oracle Real Application Clusters Administration and Deployment Guide 19c, "Monitoring Performance".
    """
    events = [event for event in events_like(case, "gc ") if event.endswith("congested")]
    part = share(case, *events)
    if case.worth_saying(part):
        yield Claim(
            phrase("Requests for blocks queue at the instances that serve them: {:share of database}", part),
            impact=part,
            confidence=0.85,
            for_=[*waited(case, *events)],
        )


@cause()
def cluster_traffic(case: Case) -> Iterator[Claim]:
    """Much of the time goes into fetching blocks from other instances, each quickly.

    Looks like: a large share in gc events although a transfer takes well under a millisecond.
    Hurts because: work on the same data runs on several instances, and each block travels again and again.
    Speaks for it: share of the time, blocks received per second, the segments that travel.
    Speaks against it: slow transfers: then the interconnect.
    Remedy: Bring work to its data: a service per application on one instance, partitions by instance; then the
        statements that read most blocks.
    Verify: Blocks received per second at the same load.
    Source: Oracle Real Application Clusters Administration and Deployment Guide 19c, "Monitoring Performance".
    """
    part, ms = share(case, *TRANSFERS, *GRANTS), mean_ms([case.waits[e] for e in TRANSFERS if e in case.waits])
    if part < MUCH or ms is None or ms >= SLOW_TRANSFER_MS or not case.worth_saying(part):
        return
    yield Claim(
        phrase("{:share of database} fetches blocks from other instances", part),
        impact=part,
        confidence=0.8,
        for_=[
            *waited(case, *TRANSFERS, *GRANTS),
            *leaders(case, "v$segment_statistics.gc cr blocks received", "what travels to be read"),
            *leaders(case, "v$segment_statistics.gc current blocks received", "what travels to be changed"),
            *leaders(case, "v$sqlstats.cluster_wait_time", "a statement that waits for it"),
            *behind(case, LOG_WRITE, phrase("{:.0f ms}", SLOW_LOG_MS), "changed blocks wait for it"),
        ],
    )


def _profile(case: Case, words: str) -> list[Evidence]:
    """Lines of the global cache's profile that hold these words, slowest first."""
    named = case.dataset.frame("statistic")["name"].unique(maintain_order=True).to_list()
    lines = [name for name in named if name.startswith(("gc_profile.", "gc_workload.")) and words in name]
    found = sorted(((figure.largest, name) for name in lines for figure in case.figures(name)), reverse=True)
    return [
        Evidence("statistic", f"name = '{name}'", phrase("{}: {:.2g ms}", name.partition('.')[2], ms), "", "as counted")
        for ms, name in found[:2]
    ]  # fmt: skip
