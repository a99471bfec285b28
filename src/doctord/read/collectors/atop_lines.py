"""What `atop -P` prints: a line for each thing that it looked at, with counts of an interval, sample by sample."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, pairwise
from typing import Final

from doctord._native import Batch
from doctord.read.figures import Figures, number
from doctord.read.source import SourceFile
from doctord.read.tools.report import SINCE_BOOT_ALONE, SINCE_BOOT_LEFT_OUT, Line
from doctord.regex import regex

LINE: Final = regex(r"([A-Za-z]{3}) (\S+) (\d{9,11}) \d{4}/\d\d/\d\d \d\d:\d\d:\d\d (\d+) (.*)$")
PROCESS: Final = regex(r"(\d+) \((.*?)\) [A-Za-z<>] (.*)$")
AFTER_COMMAND_LINE: Final = regex(r".*\) (\d+) \d+ \d+ \d+ (?:-?\d+ ){6}-?\d+ ([yn])\b")
SECTOR_BYTES: Final = 512.0
KIB: Final = 1024.0


def batches(lines: Iterable[Line], source: SourceFile) -> Iterator[Batch]:
    """The rows of all samples; what was counted since boot only where nothing follows."""
    figures = Figures(source)
    for sample, after in pairwise(chain(_samples(lines), [None])):
        since_boot = sample is not None and sample[0][1] == "RESET"
        is_alone = since_boot and (after is None or after[0][1] == "RESET")
        if since_boot:
            source.note(SINCE_BOOT_ALONE if is_alone else SINCE_BOOT_LEFT_OUT)
        if sample and (is_alone or not since_boot):
            yield from _rows(sample[1:] if since_boot else sample, figures, source, since_boot=since_boot)
    yield from figures.rest()


def _samples(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines of each sample; those of one since boot begin with RESET."""
    held = list[Line]()
    for line, text in lines:
        if text in {"SEP", "RESET"}:
            if held:
                yield held
            held = [(line, text)] if text == "RESET" else []
        elif text:
            held.append((line, text))
    if held:
        yield held


def _rows(sample: list[Line], figures: Figures, source: SourceFile, *, since_boot: bool) -> Iterator[Batch]:
    is_first = True
    for line, text in sample:
        found = LINE.match(text)
        if found is None or not int(found[4]):
            source.skip(line, "not a line of atop -P")
            continue
        length_s = float(found[4])
        if is_first:
            source.host, is_first = found[2], False
            moment = datetime.fromtimestamp(int(found[3]), UTC)
            yield from figures.at(moment, None if since_boot else length_s)
        take = TAKERS.get(found[1])
        try:
            if take:
                take(figures, found[5], length_s)
        except (ValueError, IndexError):
            source.skip(line, f"a line {found[1]} that is not as atop prints it")


def _counts(text: str) -> list[float]:
    """The numbers of a line that holds nothing else."""
    return [float(word) for word in text.split()]


def _named(text: str) -> tuple[str, list[float]]:
    name, *rest = text.split()
    return name, [float(word) if number(word) is not None else 0.0 for word in rest]


def _cpu(figures: Figures, text: str, _length_s: float, number_at: int | None = None) -> None:
    values = _counts(text)
    system, user, nice, idle, wait, irq, soft, steal = values[2:10]
    if ticks := sum(values[2:10]):
        figures.row("cpu", cpu=None if number_at is None else int(values[number_at])).update(
            {
                "usr_pct": (user + nice) * 100 / ticks,
                "sys_pct": system * 100 / ticks,
                "wait_io_pct": wait * 100 / ticks,
                "irq_pct": (irq + soft) * 100 / ticks,
                "steal_pct": steal * 100 / ticks,
                "idle_pct": idle * 100 / ticks,
            }
        )


def _one_cpu(figures: Figures, text: str, length_s: float) -> None:
    _cpu(figures, text, length_s, 1)


def _load(figures: Figures, text: str, length_s: float) -> None:
    _, *loads, switches, interrupts = _counts(text)[:6]
    row = figures.row("cpu", cpu=None)
    row |= {"csw_per_s": switches / length_s, "interrupts_per_s": interrupts / length_s}
    for minutes, load in zip((1, 5, 15), loads, strict=True):
        figures.statistic("kernel", f"atop.load_{minutes}m", load, "tasks")


def _memory(figures: Figures, text: str, _length_s: float) -> None:
    values = _counts(text)
    page, total, free, cache, buffers = values[:5]
    shared, huge_page, huge_total, huge_free = values[9], *values[12:15]
    figures.row("memory").update(
        {
            "total_bytes": total * page,
            "free_bytes": free * page,
            "page_cache_bytes": (cache + buffers - shared) * page,
            "shmem_bytes": shared * page,
            "page_tables_bytes": values[20] * page if len(values) > 20 else None,
            "huge_page_bytes": huge_page,
            "huge_pages_total": huge_total,
            "huge_pages_free": huge_free,
        }
    )


def _swap(figures: Figures, text: str, _length_s: float) -> None:
    page, total, free = _counts(text)[:3]
    figures.row("memory").update({"swap_total_bytes": total * page, "swap_free_bytes": free * page})


def _paging(figures: Figures, text: str, length_s: float) -> None:
    page, *values = _counts(text)
    row = {"scan_per_s": values[0], "swap_in_per_s": values[3], "swap_out_per_s": values[4]}
    if len(values) > 10:
        row |= {"page_in_kib_per_s": values[9] * page / KIB, "page_out_kib_per_s": values[10] * page / KIB}
    figures.row("memory").update({column: value / length_s for column, value in row.items()})
    if values[5] >= 0:  # -1: this kernel does not count them
        figures.statistic("kernel", "atop.oom_kills", values[5] / length_s, "per_s", kind="rate")


def _pressure(figures: Figures, text: str, length_s: float) -> None:
    there, _, numbers = text.partition(" ")
    if there == "y":
        values = _counts(numbers)
        share = [waited_us / length_s / 1e4 for waited_us in values[3::4]]
        figures.row("cpu", cpu=None)["pressure_some_pct"] = share[0]
        figures.row("memory").update({"pressure_some_pct": share[1], "pressure_full_pct": share[2]})
        figures.statistic("kernel", "io.pressure_some_pct", share[3], "pct")
        figures.statistic("kernel", "io.pressure_full_pct", share[4], "pct")


def _disk(figures: Figures, text: str, length_s: float) -> None:
    name, values = _named(text)
    busy_ms, reads, read_sectors, writes, write_sectors = values[:5]
    figures.row("disk", device=name).update(
        {
            "util_pct": min(busy_ms / length_s / 10, 100.0),
            "reads_per_s": reads / length_s,
            "read_bytes_per_s": read_sectors * SECTOR_BYTES / length_s,
            "writes_per_s": writes / length_s,
            "write_bytes_per_s": write_sectors * SECTOR_BYTES / length_s,
        }
    )
    if len(values) > 8:
        # The queue while it was busy, weighted by time, is what all requests together spent in it.
        spent_ms, requests = values[8] * busy_ms, reads + writes
        figures.row("disk", device=name)["queue"] = spent_ms / length_s / 1e3
        figures.row("disk", device=name)["request_ms"] = spent_ms / requests if requests else None
        figures.statistic("kernel", "atop.busy_queue", values[8], "requests", entity=name)


def _network(figures: Figures, text: str, length_s: float) -> None:
    name, values = _named(text)
    if name == "upper":
        row = {"segments_out_per_s": values[1] / length_s, "retransmits_per_s": values[13] / length_s}
        figures.row("network", interface=None).update(row | {"established": values[12]})
    else:
        row = {"rx_bytes_per_s": values[1] / length_s, "tx_bytes_per_s": values[3] / length_s}
        figures.row("network", interface=name).update(row)


def _process(text: str, is_process_at: int) -> tuple[int, str, list[str]] | None:
    """Process id, name and what follows; null of a thread."""
    found = PROCESS.match(text)
    if found is None:
        raise ValueError("no process")
    values = found[3].split()
    return (int(found[1]), found[2], values) if values[is_process_at] == "y" else None


def _process_about(figures: Figures, text: str, _length_s: float) -> None:
    found, behind = PROCESS.match(text), AFTER_COMMAND_LINE.match(text)
    if found and behind and behind[2] == "y":
        values = found[3].split()
        row = figures.row("process", pid=int(found[1]))
        row |= {"command": found[2], "ppid": int(behind[1]), "threads": int(values[3])}
        row["started"] = int(values[5]) * 1_000_000


def _process_cpu(figures: Figures, text: str, length_s: float) -> None:
    if found := _process(text, 10):
        pid, name, values = found
        percent = 100 / float(values[0]) / length_s
        row = figures.row("process", pid=pid)
        row |= {"command": name, "usr_pct": float(values[1]) * percent, "sys_pct": float(values[2]) * percent}
        row["run_wait_pct"] = float(values[11]) / 1e7 / length_s
        if len(values) > 13 and float(values[13]):  # nothing is also what a kernel says that does not count it
            row["io_wait_pct"] = float(values[13]) * percent


def _process_memory(figures: Figures, text: str, length_s: float) -> None:
    if found := _process(text, 13):
        pid, _, values = found
        row = figures.row("process", pid=pid)
        row |= {"rss_bytes": float(values[2]) * KIB, "minor_faults_per_s": float(values[6]) / length_s}
        row["major_faults_per_s"] = float(values[7]) / length_s


def _process_disk(figures: Figures, text: str, length_s: float) -> None:
    found = _process(text, 9)
    if found and found[2][1] == "y":
        pid, _, values = found
        row = figures.row("process", pid=pid)
        row["read_bytes_per_s"] = float(values[3]) * SECTOR_BYTES / length_s
        row["write_bytes_per_s"] = float(values[5]) * SECTOR_BYTES / length_s


TAKERS: Final[dict[str, Callable[[Figures, str, float], None]]] = {
    "CPU": _cpu,
    "cpu": _one_cpu,
    "CPL": _load,
    "MEM": _memory,
    "SWP": _swap,
    "PAG": _paging,
    "PSI": _pressure,
    "DSK": _disk,
    "LVM": _disk,
    "MDD": _disk,
    "NET": _network,
    "PRG": _process_about,
    "PRC": _process_cpu,
    "PRM": _process_memory,
    "PRD": _process_disk,
}
