"""Studies of real servers: equal periods told apart, confounded pairs refused, and a change of 15 % found.

    .venv/bin/python benchmarks/study_live.py record FOLDER [--seconds 150]   one recording more of a private server
    .venv/bin/python benchmarks/study_live.py equal FOLDER [--pairs 200]      A/A: pairs of windows of one recording
    .venv/bin/python benchmarks/study_live.py planted FOLDER                  changes of 3, 5, 10 % put into them
    .venv/bin/python benchmarks/study_live.py confounded [--pairs 10]         two settings changed between two periods
    .venv/bin/python benchmarks/study_live.py abba [--sets 5]                 a command against one of 15 % more work

Recordings are of PostgreSQL under pgbench at a steady rate, as `doctord record` takes them, but for commits, which are
counted each second in place of five, so that windows of some seconds can be told from each other. A window's pair is
any other of its recording: nothing was changed between them, though whatever else the machine does was.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import mannwhitneyu, ttest_ind

sys.path.insert(0, str(Path(__file__).parent / "cost"))
sys.path.insert(0, str(Path(__file__).parent))

from paired import private_server
from study import Score

from doctord.analyse.study.design import compare
from doctord.analyse.study.needs import NEEDS
from doctord.analyse.study.samples import Samples
from doctord.analyse.study.verdict import Comparison, Period
from doctord.app.source import Live
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.statistics import views
from doctord.collect.postgres.statistics.collector import StatisticsCollector
from doctord.dataset.dataset import Dataset
from doctord.lab.server import PrivateServer
from doctord.lake.imports import keep
from doctord.lake.query import Lake

DOCTORD = Path(sys.executable).with_name("doctord")
ALPHA = 0.05
BLOCK, RESAMPLED = 20, 600  # seconds of a block, and of a period of such
MORE = 1.15
RUN = 200  # transactions of a run of half a second
# Pairs of settings that take effect at a reload; the third value is what PostgreSQL starts with.
SETTINGS = (
    ("work_mem", "8MB"), ("random_page_cost", "1.1"), ("effective_cache_size", "1GB"), ("synchronous_commit", "off"),
    ("commit_delay", "100"), ("checkpoint_timeout", "10min"), ("bgwriter_delay", "100ms"), ("jit", "off"),
    ("wal_writer_delay", "100ms"), ("autovacuum_naptime", "30s"), ("maintenance_work_mem", "128MB"),
)  # fmt: skip


def main() -> None:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("record", "equal", "planted", "confounded", "abba"))
    parser.add_argument("folder", nargs="?", type=Path, default=Path("study-live"))
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--window", type=int, default=20, help="seconds of each period of a pair")
    parser.add_argument("--rate", type=int, default=300)
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--sets", type=int, default=5)
    asked = parser.parse_args()
    if asked.what == "record":
        record(asked.folder, asked.seconds, asked.rate)
    elif asked.what == "equal":
        equal(asked.folder, asked.pairs or 200, timedelta(seconds=asked.window))
    elif asked.what == "planted":
        planted(asked.folder, asked.pairs or 2000, asked.window)
    elif asked.what == "confounded":
        confounded(asked.pairs or 10)
    else:
        abba(asked.sets, asked.pairs or 30)


@contextmanager
def load(server: PrivateServer, rate: int) -> Iterator[None]:
    """Eight clients of pgbench at a rate, for as long as it takes."""
    command = [server.binaries / "pgbench", "--client=8", f"--rate={rate}", "--no-vacuum", "--time=600", server.dsn]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as clients:
        time.sleep(3)  # until they are connected
        try:
            yield
        finally:
            clients.terminate()


def looked(server: PrivateServer, seconds: float) -> Dataset:
    """What a study reads of so many seconds of a server."""
    StatisticsCollector.period_s = 1.0
    views.Cadence = EverySecond
    seen = Live(seconds, [server.dsn]).seen().dataset
    return Dataset({name: seen.arrow(name) for name in NEEDS if name in seen.tables})


class EverySecond(Cadence):
    """How often the views of the whole server are read here, whatever their collector asks for."""

    def __init__(self, every_s: float) -> None:
        """Every second at the least."""
        super().__init__(every_s=min(every_s, 1.0))


def record(folder: Path, seconds: float, rate: int) -> None:
    """One recording more, as a lake of its own."""
    with private_server() as server, load(server, rate):
        told = looked(server, seconds)
    folder.mkdir(parents=True, exist_ok=True)
    lake = folder / f"{int(time.time())}"
    print(lake, keep(lake, {name: told.arrow(name) for name in told.tables}))


def whole(lake: Path) -> Dataset:
    """A recording, without the first looks of its collectors."""
    span = Lake(lake).span()
    assert span, f"{lake} holds nothing"
    return Lake(lake).dataset(span[0] + timedelta(seconds=2), span[1])


def windows(lake: Path, window: timedelta) -> list[Period]:
    """The windows of a recording, one after the other."""
    told = whole(lake)
    begin, end = told.frame("wait")["ts"].min(), told.until
    assert isinstance(begin, datetime), f"{lake} has no waits"
    assert end
    count = int((end - begin) / window)
    return [
        Period(f"{lake.name}.{place}", told.between(begin + place * window, begin + (place + 1) * window))
        for place in range(count)
    ]


def equal(folder: Path, most: int, window: timedelta) -> None:
    """Pairs of windows of one recording, at most so many, drawn at random."""
    recordings = [windows(lake, window) for lake in sorted(folder.iterdir())]
    pairs = [pair for found in recordings for pair in combinations(found, 2)]
    rng = np.random.default_rng(1)
    chosen = [pairs[place] for place in sorted(rng.permutation(len(pairs))[:most])]
    verdicts, by_rows = Counter[str](), Counter[str]()
    for before, after in chosen:
        found = compare(before, after)
        verdicts[found.verdict if found.verdict != "not comparable" else reason(found)] += 1
        by_rows.update(on_rows(before, after))
    print(f"{len(chosen)} pairs of windows of {window.seconds} s of {len(recordings)} recordings: {dict(verdicts)}")
    print(f"told apart on their seconds: {dict(by_rows)}")


def planted(folder: Path, resamples: int, rows: int) -> None:
    """A change is put into the second of two periods of one recording.

    Periods are stretches of it that do not overlap, in which the machine did what it did; then such of blocks of it,
    drawn with replacement (Künsch's bootstrap), between which nothing differs but by chance.
    """
    rng, score = np.random.default_rng(1), Score("recorded", rows)
    drawn = Score(f"of blocks of {BLOCK} s", RESAMPLED)
    recordings = [costs(Period(lake.name, whole(lake))) for lake in sorted(folder.iterdir())]
    for _ in range(resamples):
        told = recordings[rng.integers(len(recordings))]
        first, second = two_apart(rng, told.rows, rows)
        score.add(told.part(first, first + rows), told.part(second, second + rows), is_load=False)
        drawn.add(of_blocks(rng, told), of_blocks(rng, told), is_load=False)
    print(f"{resamples} pairs of {len(recordings)} recordings\n{score.line()}\n{drawn.line()}")


def of_blocks(rng: np.random.Generator, told: Samples) -> Samples:
    """As many blocks of a recording as make a period."""
    begins = rng.integers(0, told.rows - BLOCK + 1, RESAMPLED // BLOCK)
    rows = (begins[:, None] + np.arange(BLOCK)).ravel()
    return Samples(told.amount[rows], told.per[rows], told.seconds[rows])


def two_apart(rng: np.random.Generator, rows: int, length: int) -> tuple[int, int]:
    """Where two stretches of a series begin, in either order."""
    first, second = sorted(rng.integers(0, rows - 2 * length + 1, 2))
    begins = int(first), int(second) + length
    return begins if rng.random() < 0.5 else begins[::-1]


def costs(period: Period) -> Samples:
    """Database time a commit, second by second."""
    told = period.spent
    assert told, f"{period.name} has no database time"
    return told.samples(told.whole, "commit")


def reason(found: Comparison) -> str:
    """Why a pair was not compared, without its figures."""
    return f"not comparable: {'too short' if 'too short' in found.why else found.why}"


def on_rows(before: Period, after: Period) -> list[str]:
    """Which of the usual tests tell the seconds of two windows apart."""
    rows = [costs(period) for period in (before, after)]
    each = [(one.amount / one.per)[one.per > 0] for one in rows]
    tests = {"Mann-Whitney": mannwhitneyu(*each).pvalue, "Welch": ttest_ind(*each, equal_var=False).pvalue}
    return [name for name, p in tests.items() if p < ALPHA]


def confounded(pairs: int) -> None:
    """A server of which two settings are changed between each two periods: all must be refused, for that reason."""
    with private_server() as server, load(server, 100):
        periods = [Period("0", looked(server, 10))]
        names: list[Sequence[str]] = []
        for pair in list(combinations(SETTINGS, 2))[:: len(SETTINGS) // 2][:pairs]:
            with server.connect() as connection:
                current = {name: connection.execute(f"show {name}").fetchone()[0] for name, _ in pair}  # type: ignore[arg-type, index]
            wanted = {name: value if current[name] != value else default(server, name) for name, value in pair}
            server.set(**wanted)
            time.sleep(0.5)
            periods.append(Period(",".join(wanted), looked(server, 10)))
            names.append(list(wanted))
    refused = 0
    for before, after, changed in zip(periods, periods[1:], names, strict=False):
        found = compare(before, after)
        is_refused = found.verdict == "not comparable" and found.why.startswith("several changes at once")
        refused += is_refused and all(name in found.why for name in changed)
        print(f"{', '.join(changed)}: {found.verdict}: {found.why}")
    print(f"{refused} of {len(names)} confounded pairs are refused, and both changes named")


def default(server: PrivateServer, name: str) -> str:
    """What a setting is when nobody sets it."""
    with server.connect() as connection:
        row = connection.execute("select boot_val from pg_settings where name = %s", (name,)).fetchone()
    assert row, name
    return str(row[0])


def abba(sets: int, pairs: int) -> None:
    """A run of pgbench against one of 15 % more transactions, in turn."""
    found = 0
    with private_server() as server, tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "work.sql"
        script.write_text("select sum(g) from generate_series(1, 20000) g;\n")
        run = f"{server.binaries / 'pgbench'} --no-vacuum --client=1 --file={script} '{server.dsn}' --transactions="
        for number in range(sets):
            command = [DOCTORD, "study-run", "--a", f"{run}{RUN}", "--b", f"{run}{int(RUN * MORE)}", "--json"]
            done = subprocess.run([*command, f"--pairs={pairs}"], capture_output=True, text=True, check=False)
            (told,) = json.loads(done.stdout)["parts"][0]["comparisons"]
            total = next(row for row in told["figures"] if row["name"] == "total")
            is_right = told["verdict"] == "worse" and total["low"] < MORE < total["high"]
            found += is_right
            ratio, low, high = (total[name] for name in ("ratio", "low", "high"))
            print(f"set {number + 1}: {told['verdict']}, {ratio:.3f} ({low:.3f} to {high:.3f})", flush=True)
    print(f"{found} of {sets} sets say worse, with an interval that holds 15 %")


if __name__ == "__main__":
    main()
