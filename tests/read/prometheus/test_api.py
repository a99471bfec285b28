"""A Prometheus server named by its address: one on the loopback that answers as Prometheus does."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from doctord.errors import UserError
from doctord.read.archive import found
from doctord.read.formats import read_file
from doctord.read.prometheus.api import MOST_POINTS, address_in, fetch, shown
from doctord.read.prometheus.client import PASSWORD, USER
from reading import SAMPLES, frame

START, END = "2026-11-20T10:00:00Z", "2026-11-20T11:00:00+00:00"


class Asked(list[tuple[str, dict[str, list[str]], str | None]]):
    """Path, parameters and authorization of each request."""


@contextmanager
def server(status: int = 200) -> Iterator[tuple[str, Asked]]:
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked.append((parts.path, parse_qs(parts.query), self.headers.get("Authorization")))
            name = "prometheus_text.two_scrapes.txt" if parts.path == "/metrics" else "prometheus_json.range.json"
            self.send_response(status)
            self.end_headers()
            self.wfile.write((SAMPLES / name).read_bytes())

        def log_message(self, *_: object) -> None:
            """Quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}", asked
    finally:
        http.shutdown()
        thread.join(5)
        http.server_close()


def test_samples_as_they_were_scraped(tmp_path: Path) -> None:
    with server() as (address, asked):
        fetch(f"{address}/prom?start={START}&end={END.replace('+', '%2B')}", tmp_path / "answer")
    ((path, parameters, _),) = asked
    assert path == "/prom/api/v1/query"
    assert parameters["query"] == ['{__name__=~"(node|pg|mysql|oracledb)_.+"}[3600s]']
    assert float(parameters["time"][0]) == 1795258800 - 86400
    assert set(frame(read_file(tmp_path / "answer"), "disk")["host"]) == {"vm"}


def test_a_long_time_has_a_step(tmp_path: Path) -> None:
    with server() as (address, asked):
        fetch(f"{address}/?start=1700000000&end=1700864000", tmp_path / "answer")
        fetch(f"{address}/?start=1700000000&end=1700000060&step=5&match=node_load1", tmp_path / "answer")
    (long, long_parameters, _), (short, short_parameters, _) = asked
    assert (long, short) == ("/api/v1/query_range", "/api/v1/query_range")
    assert 864000 / float(long_parameters["step"][0]) <= MOST_POINTS
    assert (short_parameters["step"], short_parameters["query"]) == (["5.0"], ["node_load1"])


def test_an_exporter_is_read_directly(tmp_path: Path) -> None:
    with server() as (address, asked):
        fetch(f"{address}/metrics", tmp_path / "answer")
    assert asked[0][0] == "/metrics"
    assert read_file(tmp_path / "answer").format == "Prometheus' text format"


def test_who_asks_is_told_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USER, "reader")
    monkeypatch.setenv(PASSWORD, "sec ret")
    with server(403) as (address, asked), pytest.raises(UserError) as refused:
        fetch(f"{address}/metrics", tmp_path / "answer")
    assert asked[0][2] == f"Basic {base64.b64encode(b'reader:sec ret').decode()}"
    assert "403" in str(refused.value)
    assert "sec" not in str(refused.value) + refused.value.hint


def test_a_password_in_an_address_is_refused_and_never_shown(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="seen by everybody") as refused:
        fetch("http://reader:sec%20ret@127.0.0.1:1/metrics", tmp_path / "answer")
    assert "ret" not in str(refused.value)
    assert shown("http://reader:secret@db1:9090/x?token=secret") == "http://db1:9090/x"


def test_nobody_answers(tmp_path: Path) -> None:
    with server() as (address, _):
        pass
    with pytest.raises(UserError, match="does not answer"):
        fetch(address, tmp_path / "answer")


@pytest.mark.parametrize("asked", ["start=yesterday", "start=2026-11-20T10:00:00", "start=20&end=10", "step=often"])
def test_parameters_that_are_none(tmp_path: Path, asked: str) -> None:
    with pytest.raises(UserError, match="http://127"):
        fetch(f"http://127.0.0.1:1/?{asked}", tmp_path / "answer")


def test_an_address_is_named_as_a_path() -> None:
    with server() as (address, _), found([Path(f"{address}/?step=1&start={START}&end={END[:19]}Z")]) as files:
        (piece,) = files.pieces
        assert piece.name == f"{address}/"
        assert len(frame(read_file(piece.path), "disk")) == 3


def test_files_are_no_addresses() -> None:
    assert address_in(Path("http.log")) is None
    assert address_in(Path("https://h/x")) == "https://h/x"
