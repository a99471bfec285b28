"""One step of load on a file or a device, given by fio: its JSON, and its log of histograms by second.

A closed step keeps so many requests outstanding: by libaio, and through the page cache, where libaio would wait at each
submission, by as many threads. An open step has requests due at random moments of a Poisson process; it is given by
threads with one request each, for the sum of Poisson processes is one. (fio's own `io_submit_mode=offload` hangs in
3.33, and without it fio lets all that is outstanding end before it sleeps.) fio's documentation, "I/O rate",
"Measurements and reporting".
"""

import json
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord.analyse.stress.latencies import Latencies, at_once
from doctord.errors import UserError
from doctord.lab.host.processes import tied
from doctord.regex import regex
from doctord.stress.fio_histograms import latencies_of
from doctord.units import quantity

OLDEST: Final = 3  # whose histograms are in nanoseconds, and whose JSON has the bytes of a direction
WARMS_S: Final = 1  # before what counts, so that what starts at once has gone; and after, for the log's last lines
IN_FLIGHT: Final = 64  # threads of an open step
FULL: Final = 0.9  # of them busy: what else is due waits where nobody times it
BEHIND: Final = 0.95  # of what was offered
LAY_OUT_S: Final = 3600.0
_LAY_OUT_BLOCK: Final = 1 << 20
_GRACE_S: Final = 60.0
_LEAST_OF_MIX: Final = 4  # a second of a thread, to be parted in reads and writes
_LOOKS_S: Final = 0.2
_VERSION: Final = regex(r"fio-(\d+)\.")
DIRECTIONS: Final = ("read", "write")


class Job(NamedTuple):
    """A load, as fio is asked for it.

    Attributes:
        path: The file or device.
        size_bytes: Requests go to so much of it, from its beginning.
        block_bytes: Size of a request.
        depth: Requests outstanding; of an open step the most that may be.
        read_pct: Of 100 requests, so many read.
        is_direct: Whether requests pass by the page cache.
        rate_per_s: Requests due in a second; null: the next begins when one has ended.
        steady_s: Length of the window that has to be level; null: the step lasts its time whatever comes.
        offset_bytes: Where `size_bytes` begin.
    """

    path: str
    size_bytes: int
    block_bytes: int
    depth: int
    read_pct: int = 100
    is_direct: bool = True
    rate_per_s: float | None = None
    steady_s: int | None = None
    offset_bytes: int = 0

    @property
    def name(self) -> str:
        """What tells it from other steps of a test."""
        load = f"depth {self.depth}" if self.rate_per_s is None else f"{self.rate_per_s:g}/s"
        mix = "" if self.read_pct in {0, 100} else f", {self.read_pct} % read"
        return f"{load}, {quantity(self.block_bytes, 'bytes')}{mix}"


class Done(NamedTuple):
    """A step, and what came of it.

    Attributes:
        job: What was given.
        seconds: How much of it counts.
        ended_us: When that ended, since the epoch.
        by_direction: Latencies of `read` and `write`, from when each request was issued.
        errors: Requests that failed.
        cpu_s: What fio itself took of the CPUs.
        is_steady: Whether the rate became level; null where that was not asked.
        last_words: What fio said last, or why it was ended; empty where it came to its end.
        ran_s: How long it gave load in all, by its own clock; 0 where it was ended.
        moved_bytes: What it moved in that time.
    """

    job: Job
    seconds: int
    ended_us: int
    by_direction: Mapping[str, Latencies]
    errors: int = 0
    cpu_s: float = 0.0
    is_steady: bool | None = None
    last_words: str = ""
    ran_s: float = 0.0
    moved_bytes: float = 0.0

    @property
    def latencies(self) -> Latencies:
        """Reads and writes together."""
        return at_once(list(self.by_direction.values()))

    @property
    def per_s(self) -> float:
        """Requests done in a second (IOPS)."""
        return self.latencies.number / max(self.seconds, 1)

    @property
    def bytes_per_s(self) -> float:
        """Bytes moved in a second."""
        return self.per_s * self.job.block_bytes

    @property
    def outstanding(self) -> float:
        """Requests outstanding on average, by Little's law."""
        return self.per_s * (self.latencies.mean_us() or 0.0) / 1e6

    @property
    def keeps_up(self) -> bool:
        """Whether what was due was done, but for chance, and threads were left for what was due at the end."""
        if self.job.rate_per_s is None or self.last_words:
            return not self.last_words
        due = self.job.rate_per_s * self.seconds
        is_done = self.latencies.number >= BEHIND * due - 3 * due**0.5  # chance of a Poisson process
        last = self.latencies.busy_by_second()[-max(self.seconds // 4, 1) :]
        return is_done and float(last.mean()) < FULL * self.job.depth


def version() -> str:
    """The version of fio.

    Raises:
        UserError: it is not installed, or too old.
    """
    if shutil.which("fio") is None:
        raise UserError("fio was not found", "install it: apt-get install fio, dnf install fio")
    told = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    found = _VERSION.match(told)
    if found is None or int(found[1]) < OLDEST:
        raise UserError(f"{told or 'fio'} is not known here", f"fio {OLDEST} or later")
    return told


def open_job(job: Job, rate_per_s: float) -> Job:
    """The job with requests due at about that rate: fio takes whole numbers a second of each of its threads."""
    least = 1 if job.read_pct in {0, 100} else _LEAST_OF_MIX
    most = max(min(IN_FLIGHT, int(rate_per_s / least)), 1)
    depth = min(range(most, most // 2, -1), key=lambda count: abs(rate_per_s - count * round(rate_per_s / count)))
    return job._replace(depth=depth, rate_per_s=float(depth * max(round(rate_per_s / depth), least)))


def lay_out(path: str, size_bytes: int, *, is_direct: bool, watch: Callable[[], str]) -> str:
    """Write a file from its beginning to its end with what cannot be compressed; why that went wrong, or nothing."""
    job = Job(path, size_bytes, min(_LAY_OUT_BLOCK, size_bytes), 4, 0, is_direct)
    command = ["fio", *_common(job), "--rw=write", "--iodepth=4", "--end_fsync=1"]
    with tempfile.TemporaryDirectory(prefix="doctord-stress-", dir="/var/tmp") as name:
        return _ran(command, Path(name), LAY_OUT_S, lambda _elapsed_s: watch())[1]


def step(job: Job, *, seconds: int, seed: int, watch: Callable[[float], str]) -> Done:
    """Give a load for so long, and a second before and after.

    Args:
        job: The load.
        seconds: How long what counts lasts; of a job until it is steady, at most.
        seed: Of what is random.
        watch: Is asked again and again, with the seconds since the start, for a reason to stop; empty: none.
    """
    runs_s = seconds + 2 * WARMS_S
    began_us = time.time_ns() // 1000
    with tempfile.TemporaryDirectory(prefix="doctord-stress-", dir="/var/tmp") as name:
        folder = Path(name)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told, words = _ran(_command(job, runs_s, seed, folder), folder, runs_s + _GRACE_S, watch)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        ran_s = _longest_s(told)
        counted_s = seconds if job.steady_s is None else max(min(round(ran_s) - 2 * WARMS_S, seconds), 0)
        by_direction = latencies_of(folder, WARMS_S, counted_s)
    ended_us = began_us + (WARMS_S + counted_s) * 1_000_000
    wanted = [name for name, share in zip(DIRECTIONS, (job.read_pct, 100 - job.read_pct), strict=True) if share]
    held = {name: by_direction.get(name, Latencies.zeros(counted_s)) for name in wanted}
    errors = sum(int(one.get("total_err", 0)) for one in told)
    steady = [one["steadystate"].get("attained") for one in told if "steadystate" in one]
    moved_bytes = float(sum(_of_both(told, "io_bytes")))
    is_steady = bool(steady[0]) if steady else None
    return Done(job, counted_s, ended_us, held, errors, cpu_s, is_steady, words, ran_s, moved_bytes)


def _common(job: Job) -> list[str]:
    path = job.path.replace(":", "\\:")  # fio parts names there
    return [
        *("--name=step", f"--filename={path}", f"--size={job.size_bytes}", f"--bs={job.block_bytes}"),
        f"--offset={job.offset_bytes}",
        *(f"--direct={int(job.is_direct)}", f"--ioengine={'libaio' if job.is_direct else 'psync'}"),
        *("--thread", "--group_reporting", "--refill_buffers", "--fallocate=none", "--allow_file_create=0"),
        *("--eta=never", "--output-format=json", *(["--readonly"] if job.read_pct == 100 else [])),
    ]


def _command(job: Job, runs_s: int, seed: int, folder: Path) -> list[str]:
    has_threads = job.rate_per_s is not None or not job.is_direct
    load = [f"--numjobs={job.depth}", "--ioengine=psync"] if has_threads else [f"--iodepth={job.depth}"]
    if job.rate_per_s is not None:
        load += [f"--rate_iops={_split(job)}", "--rate_process=poisson"]
    if job.steady_s is not None:
        # The slope over the window is less than a tenth: SNIA, "Solid State Storage Performance Test Specification".
        load += [f"--ss=iops_slope:{10 / job.steady_s:g}%", f"--ss_dur={job.steady_s}"]
    kind = {100: "randread", 0: "randwrite"}.get(job.read_pct, "randrw")
    return [
        *("fio", *_common(job), f"--rw={kind}", f"--rwmixread={job.read_pct}", "--norandommap", f"--randseed={seed}"),
        *("--time_based", f"--runtime={runs_s}", *load),
        *(f"--write_hist_log={folder / 'log'}", "--log_hist_msec=1000"),
    ]


def _split(job: Job) -> str:
    """What each thread is to do in a second; of a mix what it is to read, and to write."""
    each = (job.rate_per_s or 0) / job.depth
    if job.read_pct in {0, 100}:
        return f"{each:.0f}"
    reads = min(max(round(each * job.read_pct / 100), 1), round(each) - 1)
    return f"{reads},{round(each) - reads}"


def _ran(
    command: list[str], folder: Path, most_s: float, watch: Callable[[float], str]
) -> tuple[list[dict[str, Any]], str]:
    """The jobs of fio's JSON, and why it did not come to its end."""
    began, why = time.monotonic(), ""
    with (folder / "told").open("w+b") as told, (folder / "errors").open("w+b") as errors:
        # In a group of its own: where fio thinks that a job hangs it ends its whole group.
        with subprocess.Popen(
            tied(command), stdin=subprocess.DEVNULL, stdout=told, stderr=errors, cwd=folder, process_group=0
        ) as fio:
            try:
                while fio.poll() is None and not why:
                    time.sleep(_LOOKS_S)
                    elapsed_s = time.monotonic() - began
                    why = f"it did not end within {most_s:g} s" if elapsed_s > most_s else watch(elapsed_s)
            finally:
                fio.kill()
        told.seek(0), errors.seek(0)
        jobs, said = _jobs(told.read().decode(errors="replace")), errors.read().decode(errors="replace").strip()
    if not why and fio.returncode:
        why = said.rpartition("\n")[2] or f"it ended with status {fio.returncode}"
    return jobs, why


def _jobs(text: str) -> list[dict[str, Any]]:
    """Of its JSON, before which it may have said something else."""
    try:
        found = json.loads(text[text.index("{") :])["jobs"]
    except (ValueError, KeyError, TypeError):  # it was ended before it could tell
        return []
    return [one for one in found if isinstance(one, dict)]


def _longest_s(jobs: list[dict[str, Any]]) -> float:
    return max(_of_both(jobs, "runtime"), default=0) / 1e3


def _of_both(jobs: list[dict[str, Any]], key: str) -> list[int]:
    return [int(one.get(way, {}).get(key, 0)) for one in jobs for way in DIRECTIONS]
