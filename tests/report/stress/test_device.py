"""What is said of a load test of storage: the most it does, its knee, the limit, and the pitfall before any figure."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from doctord.analyse.stress.latencies import Latencies, counted
from doctord.analyse.stress.page_cache import Moved
from doctord.app.diagnose import Examination
from doctord.app.sources.seen import Seen
from doctord.app.stress.device_asked import Asked, Series
from doctord.app.stress.device_found import DeviceStress, Ran
from doctord.dataset.dataset import Dataset
from doctord.diagnose.finding import Diagnosis
from doctord.report.stress import device as words
from doctord.stress.fio import Done, Job
from doctord.stress.target import Target
from report.examples import HEALTHY, ONE

SECONDS, SERVERS, SERVICE_MS = 10, 4, 10.0
JOB = Job("/proc/1/fd/9", 1 << 30, 8192, 1)
TARGET = Target("/data", JOB.path, "made", 1 << 30, "8:16")


def latencies(per_s: float, ms: float) -> Latencies:
    number = int(per_s * SECONDS)
    return counted(np.arange(number) % SECONDS + 0.5, np.full(number, ms * 1000), SECONDS)


def ran(
    series: Series,
    job: Job,
    per_s: float,
    ms: float,
    diagnosis: Diagnosis = HEALTHY,
    *,
    device_share: float = 1.0,
    is_steady: bool | None = None,
) -> Ran:
    read = {"read": latencies(per_s, ms)}
    done = Done(job, SECONDS, 1_800_000_000_000_000, read, cpu_s=0.2, is_steady=is_steady, ran_s=SECONDS)
    moved_bytes = per_s * job.block_bytes * SECONDS
    moved = Moved(job.is_direct, 1 << 30, 16 << 30, per_s, moved_bytes, device_share * moved_bytes, ms * 1000, None)
    return Ran(series, done, Examination(Seen(Dataset(), Dataset()), diagnosis), moved, min(per_s * ms / 1e3, SERVERS))


def at(depth: int, *, is_direct: bool = True, device_share: float = 1.0) -> Ran:
    per_s = min(depth, SERVERS) / SERVICE_MS * 1000
    job = JOB._replace(depth=depth, is_direct=is_direct)
    return ran(
        "depth", job, per_s, depth / per_s * 1000, ONE if depth > SERVERS else HEALTHY, device_share=device_share
    )


def due(rate_per_s: float, ms: float, done_per_s: float | None = None) -> Ran:
    return ran("rate", JOB._replace(depth=64, rate_per_s=rate_per_s), done_per_s or rate_per_s, ms)


def found(*more: Ran, depths: tuple[int, ...] = (16, 1, 4, 2, 8), stopped: str = "", **of: object) -> DeviceStress:
    return DeviceStress(Asked(Path("/data"), **of), TARGET, "fio-3.33", [*map(at, depths), *more], stopped)  # type: ignore[arg-type]


RATES = (due(40, 11), due(200, 12), due(340, 20), due(440, 150, 395))


def test_the_most_comes_first_then_the_depth_and_the_limit() -> None:
    lines = words.render(found(*RATES), 80, colour=False).splitlines()
    assert lines[0].startswith("At most 400 IOPS (400 to 400): 3.12 MiB/s in blocks of 8 KiB")
    assert lines[1].startswith("Below 4 requests outstanding (4 to 4) the device idles; from 4 on more of them")
    assert any(line.startswith("From 8 outstanding on the limit is: ") for line in lines)
    assert any(line.split()[:2] == ["16", "400"] for line in lines)
    assert any("does not keep up" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_device_that_one_request_fills() -> None:
    steps = [ran("depth", JOB._replace(depth=depth), 200, 5.0 * depth) for depth in (1, 2, 4)]
    text = words.render(DeviceStress(Asked(Path("/data")), TARGET, "fio-3.33", steps), 80, colour=False)
    assert text.splitlines()[1] == "One request at a time fills the device: more of them only wait"


def test_what_stands_on_no_device_is_said_to() -> None:
    share = DeviceStress(Asked(Path("/data")), replace(TARGET, device=None), "fio-3.33", [at(1), at(2)])
    assert "no device is seen beneath it" in " ".join(words.render(share, 80, colour=False).split())


def test_a_ceiling_that_was_not_reached() -> None:
    text = words.render(found(depths=(1, 2, 4)), 80, colour=False)
    assert text.startswith("At least 400 IOPS (400 to 400), 3.12 MiB/s in blocks of 8 KiB: --depth for more")
    assert "only wait" not in text


def test_the_rate_that_holds_a_level() -> None:
    text = words.render(found(*RATES, limit_ms=30.0), 80, colour=False)
    assert "requests a second (" in text
    assert "99 of 100 requests within 30 ms" in " ".join(text.split())
    assert found(*RATES, limit_ms=30.0).healthy is True
    assert found(*RATES, limit_ms=5.0).healthy is False
    assert "No rate that was given holds" in words.render(found(*RATES, limit_ms=5.0), 80, colour=False)
    assert "more was not tried" in " ".join(words.render(found(*RATES[:2]), 80, colour=False).split())


@pytest.mark.parametrize(("is_direct", "advice"), [(True, "does not pass it by"), (False, "leave out --buffered")])
def test_the_pitfall_is_said(*, is_direct: bool, advice: str) -> None:
    steps = [at(depth, is_direct=is_direct, device_share=0.0) for depth in (1, 2, 4, 8)]
    stress = DeviceStress(Asked(Path("/data"), is_direct=is_direct), TARGET, "fio-3.33", steps)
    text = " ".join(words.render(stress, 80, colour=False).lower().split())
    assert "this was no test of the device, but of the page cache" in text
    assert "the device had no part in 100 % of what was moved" in text
    assert advice in text
    assert stress.healthy is False
    assert words.document(stress)["pitfall"]["cached_share"] == 1.0
    assert "page cache" not in words.render(found(), 80, colour=False)


def test_series_and_why_it_was_stopped() -> None:
    sustained = ran("sustained", JOB._replace(depth=4, read_pct=0, steady_s=10), 100, 40, is_steady=True)
    mix = [ran("mix", JOB._replace(depth=4, read_pct=share), 300, 13) for share in (100, 70)]
    text = words.render(found(sustained, *mix, stopped="at depth 4: no room"), 80, colour=False)
    assert "level after 10 s" in text
    assert "70 %" in text
    assert "Not all steps were given: at depth 4: no room" in text


def test_the_file_system_is_held_against_the_device_beneath() -> None:
    raw = JOB._replace(depth=4, path="/dev/sdb1")
    steps = [ran("beneath", job, per_s, 4000 / per_s) for job, per_s in ((raw, 400), (JOB._replace(depth=4), 360)) * 2]
    text = " ".join(words.render(found(*steps), 80, colour=False).split())
    assert "Through the file system 90 % of the requests that the device beneath does" in text
    assert "/dev/sdb1 400" in text
    assert words.document(found(*steps))["file_system"]["share"] == pytest.approx(0.9)


def test_nothing_measured() -> None:
    empty = DeviceStress(Asked(Path("/data")), TARGET, "fio-3.33", [], "no room")
    assert words.render(empty, 80, colour=False).startswith("Nothing was measured")
    assert empty.healthy is None
    assert words.document(empty)["depth"] is None


def test_the_document_is_json() -> None:
    told = json.loads(json.dumps(words.document(found(*RATES))))
    assert (told["depth"]["enough"], told["depth"]["per_s"]["value"]) == (4, 400.0)
    assert (told["limit"]["at"], told["pitfall"], told["target"]["kind"]) == ("depth 8, 8 KiB", None, "made")
    assert len(told["steps"]) == 9
    assert told["steps"][-1]["keeps_up"] is False
