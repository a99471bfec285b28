import socket
import sys
import threading
from collections.abc import Iterator

import pytest

from doctord.collect.oracle import driver as oracle_driver
from doctord.collect.oracle.driver import OracleDriver
from doctord.errors import UserError
from oracle_server import OracleServer, driver, error


@pytest.mark.parametrize(
    ("place", "db"),
    [
        ("db.example:1521/sales.example", "oracle:sales.example"),
        ("db.example/sales:dedicated/sales1", "oracle:sales"),
        ("tcps://db.example:2484/sales?wallet_location=/w", "oracle:sales"),
        ("//db.example/sales", "oracle:sales"),
        ("SALES", "oracle:SALES"),
        ("(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1))(CONNECT_DATA=(SERVICE_NAME = sales)))", "oracle:sales"),
    ],
)
def test_the_database_is_named_after_its_service(place: str, db: str) -> None:
    assert OracleDriver.from_address(f"oracle://scott@{place}").db == db


def test_the_password_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCTORD_ORACLE_PASSWORD", "tiger")
    known = OracleDriver.from_address("oracle://sc%40tt@db.example/sales")
    assert (known.user, known.password, known.place) == ("sc@tt", "tiger", "db.example/sales")
    assert not [secret for secret in ("tiger", "sc@tt", "db.example") if secret in repr(known)]
    assert OracleDriver.from_address("oracle://SALES").user is None


@pytest.mark.parametrize(
    "address", ["oracle://scott:tiger@db/sales", "oracle://scott/tiger@db/sales", "scott/tiger@db"]
)
def test_an_address_with_a_password_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(UserError) as refused:
        OracleDriver.from_address(address)
    assert "oracle://USER@" in refused.value.hint
    assert "tiger" not in f"{refused.value} {refused.value.hint}"


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "oracledb", None)
    with pytest.raises(UserError, match="not installed") as refused:
        OracleDriver.from_address("oracle://scott@db/sales")
    assert refused.value.hint == "pip install 'doctord[oracle]'"


@pytest.mark.parametrize(
    ("raised", "text", "lost"),
    [
        (error("ORA-00942"), "no right to read its views (ORA-00942)", False),
        (error("ORA-00904"), "the driver reports ORA-00904", False),
        (error("ORA-00028"), "the server closed it (DPY-4011)", True),
        (error("DPY-4024"), "no answer for 3 s (DPY-4024)", True),
        (error("DPY-4999"), "the driver reports DPY-4999", True),
        (socket.gaierror(-2, "db.example: Name or service not known"), "it cannot be reached (gaierror)", True),
        (TimeoutError(), "no answer for 5 s", True),
    ],
)
def test_errors_are_put_into_words_of_ours(raised: Exception, text: str, *, lost: bool) -> None:
    trouble = driver(OracleServer()).trouble(raised)
    assert (trouble.text, trouble.lost) == (text, lost)
    assert not [secret for secret in ("hunter2", "scott", "db.example") if secret in f"{trouble}"]


def test_a_login_that_hangs_is_given_up_and_taken_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle_driver, "_CONNECT_S", 0.05)
    made = driver(OracleServer())
    made.silent = threading.Event()
    for _ in range(2):
        with pytest.raises(TimeoutError):
            made.connect()
    assert sum(thread.name == "oracle login" for thread in threading.enumerate()) == 1
    monkeypatch.setattr(oracle_driver, "_CONNECT_S", 10.0)
    made.silent.set()
    assert made.connect().module == "doctord"
    assert made.server.connections == 1


@pytest.fixture
def silent_listener() -> Iterator[socket.socket]:
    """Accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the driver leaves its socket open
def test_the_real_driver_does_not_keep_us_waiting(
    silent_listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle_driver, "_CONNECT_S", 0.3)
    port = silent_listener.getsockname()[1]
    real = OracleDriver(f"127.0.0.1:{port}/sales", "scott", "tiger")
    with pytest.raises(TimeoutError) as late:
        real.connect()
    assert real.trouble(late.value).text.startswith("no answer")
    other = OracleDriver("127.0.0.1:1/sales", "scott", "tiger")
    with pytest.raises(other.errors) as refused:  # the one that hangs does not hold up another
        other.connect()
    assert other.trouble(refused.value).text == "nobody answers there (DPY-6005)"
    accepted, _ = silent_listener.accept()
    accepted.close()  # lets the thread end
    with pytest.raises(real.errors):
        real.connect()
