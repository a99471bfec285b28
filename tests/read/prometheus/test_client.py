"""Who answers, who refuses, and who asks: a Prometheus on the loopback that does each of it."""

import base64
import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from certificates import make_certificate
from doctord.errors import UserError
from doctord.read.prometheus import client as asking
from doctord.read.prometheus.client import PASSWORD, TOKEN, USER, Client
from prometheus_replay import Replay, replay

PATIENCE_S = 60
SUCCESS = json.dumps({"status": "success", "data": []}).encode()


@pytest.fixture(autouse=True)
def _nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (TOKEN, USER, PASSWORD):
        monkeypatch.delenv(name, raising=False)


def answered(status: int, body: bytes) -> Any:
    return replay(instead=lambda _path: (status, body))


@pytest.mark.parametrize(
    ("status", "body", "why", "hint"),
    [
        (200, b"<html>Grafana</html>", "is no Prometheus", "route-prefix"),
        (200, b"[]", "is no Prometheus", "route-prefix"),
        (200, b'{"status":"error","error":"query timed out"}', "cannot answer: query timed out", "less time"),
        (422, b'{"status":"error","error":"too many samples"}', "cannot answer: too many samples", "less time"),
        (401, b"Unauthorized", "refuses: 401", TOKEN),
        (403, b"", "refuses: 403", PASSWORD),
        (404, b"404 page not found", "is no Prometheus: it has no /api/v1", "route-prefix"),
        (503, b"", "refuses: 503", "http://host:9090"),
    ],
)
def test_answers_that_are_none(status: int, body: bytes, why: str, hint: str) -> None:
    with answered(status, body) as server, pytest.raises(UserError, match=why) as refused:
        Client(server.address).ask("series", match="up")
    assert hint in refused.value.hint


def test_a_token_that_is_not_accepted_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "s3cret")
    with answered(401, b"") as server, pytest.raises(UserError) as refused:
        Client(server.address).ask("query", query="up")
    assert "may not" in refused.value.hint
    assert "s3cret" not in f"{refused.value}{refused.value.hint}"


@pytest.mark.parametrize(
    ("environment", "header"),
    [
        ({}, None),
        ({TOKEN: "abc"}, "Bearer abc"),
        ({USER: "reader", PASSWORD: "x:y"}, f"Basic {base64.b64encode(b'reader:x:y').decode()}"),
        ({TOKEN: "abc", USER: "reader"}, "Bearer abc"),
    ],
)
def test_who_asks_is_told_by_the_environment(
    environment: dict[str, str], header: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with answered(200, SUCCESS) as server:
        Client(server.address).ask("series", match="up")
    assert server.asked == [("/api/v1/series", {"match[]": "up"}, header)]


def test_a_redirection_is_not_told_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "abc")
    with answered(200, SUCCESS) as other:
        redirected = _Redirecting(other)
        with replay(instead=redirected.answer) as server:
            redirected.patch(monkeypatch)
            Client(server.address).ask("series", match="up")
    assert [header for *_, header in server.asked] == ["Bearer abc"]
    assert [header for *_, header in other.asked] == [None]


class _Redirecting:
    """An answer that sends whoever asks on to another server."""

    def __init__(self, other: Replay) -> None:
        self.other = other

    def answer(self, path: str) -> tuple[int, bytes]:
        return 302, path.encode()

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        send = BaseHTTPRequestHandler.send_response

        def send_response(handler: BaseHTTPRequestHandler, status: int, message: str | None = None) -> None:
            send(handler, status, message)
            if status == 302:
                handler.send_header("Location", f"{self.other.address}{handler.path}")

        monkeypatch.setattr(BaseHTTPRequestHandler, "send_response", send_response)


def test_certificates_are_those_that_the_system_trusts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path, timedelta(days=1))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    wrapped = partial(context.wrap_socket, server_side=True)
    with replay(instead=lambda _path: (200, SUCCESS), wrapped=wrapped) as server:
        with pytest.raises(UserError, match="CERTIFICATE_VERIFY_FAILED"):
            Client(server.address).ask("series", match="up")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert Client(server.address).ask("series", match="up") == []


def test_more_than_anybody_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_BYTES", 4)
    with answered(200, SUCCESS) as server, pytest.raises(UserError, match="answers with more than"):
        Client(server.address).ask("series", match="up")


def test_nobody_answers() -> None:
    with answered(200, SUCCESS) as server:
        pass
    with pytest.raises(UserError, match=r"does not answer: \[Errno 111\] Connection refused"):
        Client(server.address).ask("series", match="up")


@contextmanager
def said(words: bytes) -> Iterator[str]:
    """The address of what takes one connection, says this, and is silent until it is left."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        silent = Event()

        def say() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(words)
                if words:
                    connection.shutdown(socket.SHUT_WR)
                silent.wait(PATIENCE_S)

        thread = Thread(target=say)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            silent.set()
            thread.join(PATIENCE_S)


def test_a_server_that_says_nothing_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "TIMEOUT_S", 0.1)
    with said(b"") as address, pytest.raises(UserError, match="does not answer: timed out"):
        Client(address).ask("series", match="up")


def test_an_answer_that_is_cut_is_none() -> None:
    cut = b'HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{"status":"success","data":['
    with said(cut) as address, pytest.raises(UserError, match="does not answer: what it sent was cut"):
        Client(address).ask("series", match="up")


@pytest.mark.parametrize(
    "address", ["db1:9090", "ftp://db1", "http://", "http://db1:x", "http://db1/?a=1", "prometheus"]
)
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(UserError, match="no address of a Prometheus") as refused:
        Client(address)
    assert "http://host:9090" in refused.value.hint


@pytest.mark.parametrize("address", ["https://me:s3cret@db1:9090", "http://me:s3cret?x@db1"])
def test_a_password_in_an_address_is_refused_and_never_shown(address: str) -> None:
    with pytest.raises(UserError, match="seen by everybody") as refused:
        Client(address)
    assert "s3cret" not in f"{refused.value}{refused.value.hint}"


def test_warnings_are_kept_once() -> None:
    with replay(warnings=["a store is down"]) as server:
        client = Client(server.address)
        client.ask("series", match="up")
        client.ask("series", match="up")
    assert client.warnings == ["a store is down"]
