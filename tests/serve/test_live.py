"""What is recorded just now is seen: by the stream, in the load, in metrics; and the recorder ends with the server."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from doctord.moments import parse_moment
from doctord.serve.lakes import Lakes
from http_server import LAKES, Client, served, unpacked

LABELS = {"lake", "wait_class", "cause", "severity", "threshold", "resource", "status"}
PATIENCE_S = 120.0


def events(answer: HTTPResponse, number: int) -> list[dict[str, str]]:
    """So many events of a stream: up to when there is data."""
    found = list[dict[str, str]]()
    while len(found) < number:
        line = answer.readline()
        assert line, "the stream ended"
        if line.startswith(b"data: "):
            found.append(json.loads(line.removeprefix(b"data: "))["until"])
    return found


def test_the_stream_says_at_once_up_to_when_there_is_data(client: Client) -> None:
    connection = HTTPConnection(urlsplit(client.address).netloc, timeout=PATIENCE_S)
    connection.request("GET", "/api/v1/stream")
    answer = connection.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")
    [until] = events(answer, 1)
    assert list(until) == list(LAKES)
    assert until[LAKES[0]].startswith("2026-11-23T07:07:2")
    connection.close()


def test_the_server_ends_without_waiting_for_those_who_listen(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with served("--lake", unpacked(LAKES[0], tmp_path / "lake")) as client:
        connection = HTTPConnection(urlsplit(client.address).netloc, timeout=PATIENCE_S)
        connection.request("GET", "/api/v1/stream")
        answer = connection.getresponse()
        events(answer, 1)
    answer.read()  # to its end: it was not cut off
    connection.close()
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_what_is_recorded_is_seen_while_it_grows(tmp_path: Path) -> None:
    with served("--record", "--lake", tmp_path / "lake") as client:
        connection = HTTPConnection(urlsplit(client.address).netloc, timeout=PATIENCE_S)
        connection.request("GET", "/api/v1/stream")
        told = [one["lake"] for one in events(connection.getresponse(), 8) if one["lake"]]
        connection.close()
        assert told == sorted(told)
        assert len(set(told)) == len(told) >= 5
        assert abs(parse_moment(told[-1]).timestamp() - time.time()) < PATIENCE_S
        used = client.get("series", lake=None, figure="cpu_used_pct", from_="-1m").document
        assert used["series"][0]["newest"] >= 0
        load = client.get("load", lake=None, from_="-1m")
        assert "etag" not in load.headers
        recorder = [process for process in Path("/proc").glob("[0-9]*") if is_recorder(process, tmp_path)]
        assert recorder
    assert not [process for process in recorder if is_recorder(process, tmp_path)]
    assert list((tmp_path / "lake/sealed/cpu").glob("*/*.parquet"))


def is_recorder(process: Path, folder: Path) -> bool:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"doctord.app.record" in words and str(folder / "lake").encode() in words


def test_metrics_are_prometheus_text_and_have_no_label_without_a_bound(client: Client) -> None:
    client.get("servers", lake=None)
    reply = client.ask("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {family.name: family for family in text_string_to_metric_families(reply.body.decode())}
    assert {"doctord_newest_data_timestamp_seconds", "doctord_http_requests"} <= set(families)
    for family in families.values():
        assert family.name.startswith("doctord_")
        for sample in family.samples:
            assert set(sample.labels) <= LABELS
    asked = {sample.labels["resource"]: sample.value for sample in families["doctord_http_requests"].samples}
    assert asked["servers"] >= 1
    newest = {one.labels["lake"]: one.value for one in families["doctord_newest_data_timestamp_seconds"].samples}
    assert set(newest) == set(LAKES)


def test_lakes_go_to_another_process_after_they_were_looked_at(lakes: list[Path]) -> None:
    served_here = Lakes(lakes)
    served_here.newest(LAKES[0])
    assert pickle.loads(pickle.dumps(served_here)).places == served_here.places  # noqa: S301 - our own


def test_ctrl_c_while_a_process_warms_up_is_no_error(lakes: list[Path]) -> None:
    """A terminal sends it to all processes of the group: to the one that loads what verdicts need, too."""
    command = [sys.executable, "-m", "doctord", "serve", "--port", "0", "--lake", str(lakes[0])]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as process:
        assert process.stdout
        assert "http://" in process.stdout.readline()
        time.sleep(0.5)  # that process has begun, and takes longer
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "")
