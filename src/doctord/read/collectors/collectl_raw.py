"""collectl's own recordings (`.raw`, `.raw.gz`): what /proc said, sample by sample, between `>>> SECONDS <<<`.

Tables, of what stands in it: `cpu` (the whole host and each CPU), `memory`, `disk`, `network` (interfaces, TCP); load
averages as `statistic`, named as in the plot format (`CPU.L-Avg1`). Rates are between two samples; nothing is
known of the time before the first. Host is that of the heading, times are seconds since 1970.

Left out: processes, slabs, interrupts by number, NFS, free pieces of memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import micros
from doctord.read.counters import Counters
from doctord.read.figures import Figures, number
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "collectl, raw"
RANK = Rank.NAMED
ONE_CPU: Final = regex(r"cpu\d{0,6}")
SAMPLE: Final = regex(r">>> (\d{9,10}\.\d+) <<<")
HOST: Final = regex(r"# Host:\s+(\S+)")
IN_MEMINFO: Final = regex(r"(\w[\w()]*):\s+(\d+)(?: kB)?$")
INTERFACE: Final = regex(r"Net\s+([^:\s]+):\s*(.*)$")
NO_SAMPLE: Final = "not between the samples of a recording"
KIB: Final = 1024.0
SECTOR_BYTES: Final = 512.0
OWN: Final = 1.0  # collectl itself runs when it looks who does

# Of /proc/stat, in the order of its columns; guests are counted in user and nice.
CPU: Final = ("usr_pct", "usr_pct", "sys_pct", "idle_pct", "wait_io_pct", "irq_pct", "irq_pct", "steal_pct")
OF_STAT: Final = {"ctxt": "csw_per_s", "intr": "interrupts_per_s", "processes": "forks_per_s"}
OF_VMSTAT: Final = {
    "pgpgin": "page_in_kib_per_s", "pgpgout": "page_out_kib_per_s", "pswpin": "swap_in_per_s",
    "pswpout": "swap_out_per_s", "pgfault": "minor_faults_per_s", "pgmajfault": "major_faults_per_s",
}  # fmt: skip
OF_MEMINFO: Final = {
    "MemTotal": "total_bytes", "MemFree": "free_bytes", "MemAvailable": "available_bytes", "AnonPages": "anon_bytes",
    "PageTables": "page_tables_bytes", "Shmem": "shmem_bytes", "SwapTotal": "swap_total_bytes",
    "SwapFree": "swap_free_bytes",
}  # fmt: skip
CACHED: Final = {"Buffers": 1.0, "Cached": 1.0, "Shmem": -1.0}
HUGE: Final = {"HugePages_Total": "huge_pages_total", "HugePages_Free": "huge_pages_free",
               "HugePages_Rsvd": "huge_pages_rsvd"}  # fmt: skip
OF_TCP: Final = {"OutSegs": "segments_out_per_s", "RetransSegs": "retransmits_per_s",
                 "ListenOverflows": "listen_overflows_per_s", "ListenDrops": "listen_drops_per_s"}  # fmt: skip


@dataclass(slots=True)
class Recording:
    """What goes from sample to sample."""

    figures: Figures
    counters: Counters = field(default_factory=Counters)
    cpus: dict[str, list[float]] = field(default_factory=dict)
    titles: dict[str, list[str]] = field(default_factory=dict)
    at: datetime | None = None
    interval_s: float | None = None

    def per_s(self, name: str, value: float | None) -> float | None:
        """What a counter rose by per second; null at its first reading."""
        return None if value is None or self.at is None else self.counters.per_s(name, micros(self.at), value)


def sniff(head: str) -> bool:
    """Whether it has collectl's heading and a sample below."""
    return head.lstrip().startswith("####") and "\n# Collectl:" in head and SAMPLE.search(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of all samples."""
    recording = Recording(Figures(source))
    for line, text in source.lines():
        if sample := SAMPLE.match(text):
            moment = datetime.fromtimestamp(float(sample[1]), UTC)
            gone_s = (moment - recording.at).total_seconds() if recording.at else 0.0
            recording.at, recording.interval_s = moment, gone_s if gone_s > 0 else None
            yield from recording.figures.at(moment, recording.interval_s)
        elif text.startswith("#"):
            if found := HOST.match(text):
                source.host = found[1]
        elif recording.at is not None:
            _take(recording, text)
        elif text.strip():
            source.skip(line, NO_SAMPLE)
    yield from recording.figures.rest()


def _take(recording: Recording, text: str) -> None:
    """Put one line of /proc where it belongs."""
    words = text.split()
    first = words[0] if words else ""
    if ONE_CPU.fullmatch(first):
        _cpu(recording, first, words[1:])
    elif first == "disk" and len(words) >= 15:
        _disk(recording, words[3], words[4:])
    elif found := INTERFACE.match(text):
        _interface(recording, found[1], found[2].split())
    elif first.startswith("tcp-Tcp"):
        _tcp(recording, first, words[1:])
    elif first == "load" and len(words) > 3:
        for minutes, word in zip((1, 5, 15), words[1:4], strict=True):
            recording.figures.statistic("collectl", f"CPU.L-Avg{minutes}", number(word), None)
    elif len(words) > 1:
        _single(recording, first, words[1], text)


def _cpu(recording: Recording, name: str, words: list[str]) -> None:
    """Shares of one CPU, or of all, since the sample before."""
    ticks = [value for word in words[: len(CPU)] if (value := number(word)) is not None]
    before = recording.cpus.get(name)
    recording.cpus[name] = ticks
    if len(ticks) != len(CPU) or before is None or len(before) != len(CPU):
        return
    gained = [max(now - then, 0.0) for now, then in zip(ticks, before, strict=True)]
    row = recording.figures.row("cpu", cpu=int(name[3:]) if name[3:] else None)
    for column, ticks_of in zip(CPU, gained, strict=True):
        if sum(gained):
            row[column] = row.get(column, 0.0) + 100.0 * ticks_of / sum(gained)


def _disk(recording: Recording, device: str, words: list[str]) -> None:
    """Rates of a device, of the columns of /proc/diskstats."""
    names = ("reads", "read_merges", "read_sectors", "read_ms", "writes", "write_merges", "write_sectors", "write_ms",
             "in_flight", "busy_ms", "weighted_ms")  # fmt: skip
    rose = {name: recording.per_s(f"{device} {name}", number(word)) for name, word in zip(names, words, strict=False)}
    reads, writes = rose["reads"], rose["writes"]
    if reads is None or writes is None:
        return
    row = recording.figures.row("disk", device=device)
    row |= {"reads_per_s": reads, "writes_per_s": writes}
    for column, name, factor in (
        ("read_bytes_per_s", "read_sectors", SECTOR_BYTES), ("write_bytes_per_s", "write_sectors", SECTOR_BYTES),
        ("util_pct", "busy_ms", 0.1), ("queue", "weighted_ms", 1e-3),
        ("read_ms", "read_ms", 1 / reads if reads else None), ("write_ms", "write_ms", 1 / writes if writes else None),
    ):  # fmt: skip
        value = rose[name]
        row[column] = None if value is None or factor is None else value * factor


def _interface(recording: Recording, name: str, words: list[str]) -> None:
    if len(words) < 12:
        return
    rose = {at: recording.per_s(f"{name} {at}", number(words[at])) for at in (0, 2, 3, 8, 10, 11)}
    row = recording.figures.row("network", interface=name)
    row |= {"rx_bytes_per_s": rose[0], "tx_bytes_per_s": rose[8]}
    errors = [value for at in (2, 3, 10, 11) if (value := rose[at]) is not None]
    row["errors_per_s"] = sum(errors) if errors else None


def _tcp(recording: Recording, section: str, words: list[str]) -> None:
    """Names stand in one line, figures in the next."""
    if words and not words[0].lstrip("-").isdecimal():
        recording.titles[section] = words
        return
    figures = dict(zip(recording.titles.get(section, []), words, strict=False))
    row = recording.figures.row("network")
    for name, column in OF_TCP.items():
        if name in figures:
            row[column] = recording.per_s(name, number(figures[name]))
    if "CurrEstab" in figures:
        row["established"] = number(figures["CurrEstab"])


def _single(recording: Recording, name: str, word: str, text: str) -> None:
    """A line of a name and a figure: of /proc/stat, vmstat or meminfo."""
    if column := OF_STAT.get(name):
        recording.figures.row("cpu", cpu=None)[column] = recording.per_s(name, number(word))
    elif name == "procs_running" and (running := number(word)) is not None:
        recording.figures.row("cpu", cpu=None)["run_queue"] = max(running - OWN, 0.0)
    elif column := OF_VMSTAT.get(name):
        recording.figures.row("memory")[column] = recording.per_s(name, number(word))
    elif found := IN_MEMINFO.match(text):
        _memory(recording, found[1], float(found[2]))


def _memory(recording: Recording, name: str, value: float) -> None:
    row = recording.figures.row("memory")
    if column := OF_MEMINFO.get(name):
        row[column] = value * KIB
    if name in CACHED:
        row["page_cache_bytes"] = row.get("page_cache_bytes", 0.0) + CACHED[name] * value * KIB
    if column := HUGE.get(name):
        row[column] = value
    if name == "Hugepagesize":
        row["huge_page_bytes"] = value * KIB
