"""Who may ask: on this host whoever does not do so for a page of a stranger; beyond it who was let in."""

import ssl
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from http.client import HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from certificates import make_certificate
from doctord.errors import UserError
from doctord.serve.access import HEADERS, Guests
from doctord.serve.limits import AT_ONCE, Limits, is_loopback
from doctord.serve.problems import Problem
from doctord.serve.run import program_token
from http_server import Client, served

SERVERS = "/api/v1/servers"
TOKEN = "0123456789abcdef0123456789abcdef"  # noqa: S105 - of these tests alone


@pytest.fixture(scope="module")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def guarded(lakes: list[Path], token_file: Path) -> Iterator[Client]:
    with served("--lake", lakes[0], "--token-file", token_file, "--known-as", "doctor.example.org") as client:
        yield client


def port_of(client: Client) -> int:
    return urlsplit(client.address).port or 0


@pytest.mark.parametrize("host", ["attacker.example", "attacker.example:7878", "127.0.0.1.attacker.example", ""])
def test_a_name_that_is_not_ours_is_refused(client: Client, host: str) -> None:
    assert client.ask(SERVERS, Host=host).status in {400, 421}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "192.0.2.7"])
def test_addresses_and_our_names_are_ours(client: Client, host: str) -> None:
    assert client.ask(SERVERS, Host=f"{host}:{port_of(client)}").status == 200
    assert client.ask(SERVERS, Host=host).status == 200


@pytest.mark.parametrize(
    "origin", ["https://attacker.example", "null", "http://127.0.0.1:1", "http://localhost.attacker.example"]
)
def test_a_page_of_another_origin_may_not_ask(client: Client, origin: str) -> None:
    assert client.ask(SERVERS, Origin=origin).status == 403
    assert client.ask("/mcp", method="POST", body=b"{}", Origin=origin).status == 403


def test_our_own_page_may_ask(client: Client) -> None:
    assert client.ask(SERVERS, Origin=client.address).status == 200


def test_an_image_of_another_site_is_refused_and_a_link_is_not(client: Client) -> None:
    elsewhere = {"Sec_Fetch_Site": "cross-site"}
    assert client.ask(SERVERS, Sec_Fetch_Mode="no-cors", **elsewhere).status == 403
    assert client.ask("/", Sec_Fetch_Mode="navigate", **elsewhere).status == 200


@pytest.mark.parametrize("path", ["/", SERVERS, "/nothing", "/metrics", "/api/v1/load?buckets=0"])
def test_every_answer_has_the_headers(client: Client, path: str) -> None:
    reply = client.ask(path)
    for name, value in HEADERS.items():
        assert reply.headers[name.lower()] == value
    assert "server" not in reply.headers
    assert "access-control-allow-origin" not in reply.headers


@pytest.mark.parametrize("path", ["/", SERVERS, "/metrics", "/mcp", "/api/v1/stream", "/api/v1/openapi.json"])
def test_nobody_is_let_in_without_a_token(guarded: Client, path: str) -> None:
    reply = guarded.ask(path)
    assert reply.status == 401
    assert reply.headers["www-authenticate"] == "Bearer"
    assert guarded.ask(path, Authorization="Bearer wrong").status == 401
    assert guarded.ask(path, Cookie="doctord=wrong").status == 401


def test_a_program_is_let_in_by_its_token(guarded: Client) -> None:
    assert guarded.ask(SERVERS, Authorization=f"Bearer {TOKEN}").status == 200
    assert guarded.ask("/metrics", Authorization=f"bearer {TOKEN}").status == 200
    assert guarded.ask(SERVERS, Authorization=f"Basic {TOKEN}").status == 401
    assert guarded.ask(SERVERS, Authorization=f"Bearer {TOKEN}", Host="doctor.example.org").status == 200


def test_the_printed_address_lets_one_browser_in_once(lakes: list[Path]) -> None:
    with served("--lake", lakes[0], "--token") as client:
        assert client.ask("/?token=wrong").headers.get("set-cookie") is None
        reply = client.ask(f"/?token={client.token}")
        assert (reply.status, reply.headers["location"]) == (303, "/")
        cookie = reply.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
        assert client.token not in cookie
        assert client.ask(SERVERS, Cookie=cookie.partition(";")[0]).status == 200
        assert "set-cookie" not in client.ask(f"/?token={client.token}").headers
        assert client.ask(SERVERS, Origin="https://attacker.example", Cookie=cookie.partition(";")[0]).status == 403


def test_beyond_this_host_a_token_is_needed(lakes: list[Path]) -> None:
    with served("--lake", lakes[0], "--host", "0.0.0.0") as client:  # noqa: S104 - that is what is tested
        assert client.token
        local = Client(client.address.replace("0.0.0.0", "127.0.0.1"))  # noqa: S104 - likewise
        assert local.ask(SERVERS).status == 401


def test_https_has_secure_cookies(lakes: list[Path], tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path, timedelta(days=1))
    key = certificate.with_suffix(".key")
    with served("--lake", lakes[0], "--token", "--certificate", certificate, "--key", key) as client:
        place = urlsplit(client.address)
        assert place.scheme == "https"
        trusting = ssl.create_default_context(cafile=str(certificate))
        trusting.check_hostname = False
        trusting.verify_flags &= ~ssl.VERIFY_X509_STRICT
        connection = HTTPSConnection("127.0.0.1", place.port, context=trusting, timeout=60)
        connection.request("GET", f"/?token={client.token}")
        assert "Secure" in (connection.getresponse().headers["set-cookie"] or "")
        connection.close()


@pytest.mark.parametrize(
    ("text", "mode", "why"), [("short", 0o600, "guessed"), (TOKEN, 0o644, "others"), ("grün" * 9, 0o600, "ASCII")]
)
def test_a_token_that_is_none_is_refused(tmp_path: Path, text: str, mode: int, why: str) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    with pytest.raises(UserError, match=why):
        program_token(file)


def test_a_taken_port_is_refused_with_a_hint(client: Client, lakes: list[Path]) -> None:
    command = [sys.executable, "-m", "doctord", "serve", "--lake", str(lakes[0]), "--port", str(port_of(client))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--port" in done.stderr


def test_who_asks_too_much_is_told_to_wait() -> None:
    limits = Limits()
    for _ in range(int(AT_ONCE)):
        limits.take("192.0.2.1")
    limits.take("192.0.2.2")
    with pytest.raises(Problem) as refused:
        limits.take("192.0.2.1", AT_ONCE + 1)
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "5"})


def test_this_host_is_not_limited() -> None:
    limits = Limits()
    for _ in range(2 * int(AT_ONCE)):
        limits.take("127.0.0.1")


def test_a_token_is_good_once() -> None:
    guests = Guests()
    token = guests.invitation
    assert guests.welcome(token)
    assert guests.welcome(token) is None
    assert guests.welcome("") is None


def test_what_is_loopback() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "192.0.2.1", "db1")] == [False] * 4  # noqa: S104 - told apart
