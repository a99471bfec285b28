"""Interrupts: one CPU that serves them all."""

from collections.abc import Iterator

from doctord.analyse.host.interrupts import BUSY_PCT, on_one_cpu
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

MOST_SOURCES = 3
IDLE_PCT = 30.0


@cause()
def interrupts_on_one_cpu(case: Case) -> Iterator[Claim]:
    """One CPU serves the interrupts of all.

    Looks like: one CPU is busy with hard and soft interrupts while the others are not; the host as a whole looks idle.
    Hurts because: packets and completions of I/O wait for that CPU, and so does whoever is scheduled on it; a log
        writer there is late with every commit.
    Speaks for it: its share of interrupts, against that of the others; the sources that come often there.
    Speaks against it: the other CPUs are busy too: then there is simply too much to do.
    Remedy: Spread them: irqbalance, more queues of the network card (ethtool -L), their affinity
        (/proc/irq/NUMBER/smp_affinity_list), or receive packet steering where the card has one queue
        (/sys/class/net/DEVICE/queues/rx-0/rps_cpus). Keep the database's log writer off that CPU until then.
    Verify: mpstat -P ALL 1: %irq and %soft are even, and no CPU above 40 %.
    Source: Linux kernel documentation, "Scaling in the Linux Networking Stack" and "SMP IRQ affinity"; R. Milkowski,
        "Oracle's listener performance", 2008 (mpstat: intr and ithr by CPU).
    """
    found = on_one_cpu(case.dataset)
    if found is None:
        return
    where = f"cpu = {found.cpu}"
    for_, against = weigh(
        [
            Sign("cpu", where, found.irq_pct, BUSY_PCT, "{:.0f % of its time} for interrupts",
                 phrase("the others: {:.0f %}", found.others_irq_pct)),
            Sign("cpu", f"cpu <> {found.cpu}", found.others_idle_pct, IDLE_PCT, "the other CPUs are {:.0f % idle}",
                 "they could take their part", "they have little time for more"),
        ]
    )  # fmt: skip
    named = [
        Evidence("statistic", f"name = 'interrupts_per_s' and entity = 'CPU {found.cpu} {source}'",
                 phrase("{}: {:rate}", source, per_s), "", "a source of them")
        for source, per_s in found.sources[:MOST_SOURCES]
    ]  # fmt: skip
    how_long = "" if found.part >= 1 else phrase(", for {:share} of the time", found.part)
    yield Claim(
        phrase("CPU {} serves the interrupts: {:.0f % of its time}{}", found.cpu, found.irq_pct, how_long),
        impact=NOT_MEASURED,
        confidence=0.6 if against else 0.85,
        for_=[*for_, *named],
        against=against,
    )
