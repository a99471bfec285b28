"""No secret of some five hundred is in what Doctor D leaves: lake, JSON, HTML, terminal, log, its own command line."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg
import pymysql
import pytest
from typer.testing import CliRunner

from doctord.cli import app, load
from doctord.dataset.tables import TABLES
from doctord.lake.query import Lake
from mariadb_server import running_mariadb
from secret_corpus import MYSQL, POSTGRES, PROGRAMS, SECRET, Corpus
from servers import PostgresServer

pytestmark = pytest.mark.slow

DOCTORD = Path(sys.executable).with_name("doctord")


def secrets_in(text: str | bytes) -> list[str]:
    return sorted(set(SECRET.findall(text if isinstance(text, str) else text.decode(errors="replace"))))


def run(*command: str | Path, environment: dict[str, str] | None = None) -> str:
    """All that a command says; what others can read of it while it runs is looked at too."""
    with subprocess.Popen(
        [DOCTORD, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | (environment or {})
    ) as process:
        said = threading.Thread(target=lambda: outputs.extend(process.communicate()))
        outputs: list[bytes] = []
        said.start()
        with suppress(FileNotFoundError):
            assert secrets_in(Path(f"/proc/{process.pid}/cmdline").read_bytes()) == []
        said.join()
    text = b"".join(outputs).decode()
    assert "Traceback" not in text
    return text


def held(lake: Path) -> str:
    """Everything in a lake: the bytes of its files as they lie there, and the values once they are unpacked."""
    raw = "".join(path.read_bytes().decode(errors="replace") for path in lake.rglob("*") if path.is_file())
    with Lake(lake).connect() as connection:
        return raw + "".join(str(connection.sql(f'FROM "{table}"').fetchall()) for table in TABLES)


def test_there_are_five_hundred(tmp_path: Path) -> None:
    corpus = Corpus()
    assert secrets_in(corpus.fill("{} {}")) == ["leak0000zq", "leak0001zq"]
    files = corpus.write(tmp_path)
    typed = [*corpus.all([*POSTGRES, *PROGRAMS, *MYSQL])]
    assert corpus.made >= 500
    everywhere = "".join(file.read_text() for file in files) + "".join(typed)
    assert len(secrets_in(everywhere)) == corpus.made - 2


def test_files(tmp_path: Path) -> None:
    corpus, lake = Corpus(), tmp_path / "lake"
    (tmp_path / "in").mkdir()
    files = corpus.write(tmp_path / "in")
    said = run("read", *files, "--lake", lake, "--day", "2026-11-21")
    assert secrets_in(said) == []
    assert "not read" not in said
    assert secrets_in(held(lake)) == []
    page = tmp_path / "page.html"
    plain = [file for file in files if file.suffix != ".strace"]  # a trace is judged by itself
    for command in (["diagnose", "--json"], ["diagnose"], ["lint"], ["lint", "--json"], ["report", "-o", page]):
        said = run(*command, *plain)
        assert said
        assert secrets_in(said) == [], command
    assert secrets_in(page.read_text()) == []
    load()
    for file in files:  # alone: what is said of one may be too little to be said of all; in this process, for speed
        for command in (["diagnose", "--json"], ["diagnose"], ["lint"], ["report", "-o", str(page)]):
            said = CliRunner().invoke(app, [*command, str(file)]).output
            assert said
            assert secrets_in(said) == [], (command, file)
    assert secrets_in(page.read_text()) == []
    trace = next(file for file in files if file.suffix == ".strace")
    assert secrets_in(run("trace", trace, "--json") + run("trace", trace)) == []


@contextmanager
def typing(server: PostgresServer, corpus: Corpus) -> Iterator[None]:
    """Users who type secrets, again and again, and programs that call themselves by them."""
    stop = threading.Event()

    def work() -> None:
        names = [*corpus.all(PROGRAMS)]
        while not stop.is_set():
            for program in names:
                with server.connect(application_name=program) as connection:
                    connection.execute("SELECT pg_sleep(0.3) /* leak9999zq */")
                if stop.is_set():
                    return

    def type_all() -> None:
        statements = [*corpus.all(POSTGRES)]
        while not stop.wait(0.2):
            for text in statements:  # each alone: COPY to the client leaves its connection in the middle of it
                with suppress(psycopg.Error), closing(server.connect()) as connection:
                    connection.execute(text.encode())

    threads = [threading.Thread(target=each) for each in (work, type_all)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.server
def test_a_live_postgresql(postgres_server: Callable[..., PostgresServer], tmp_path: Path) -> None:
    settings = {
        "shared_preload_libraries": "pg_stat_statements",
        "app.token": "leak8000zq",
        "ssl_passphrase_command": "echo leak8001zq",
        "log_min_duration_statement": 0,
        "archive_command": "leak8002zq %p",
    }
    server, corpus, lake, page = postgres_server(settings=settings), Corpus(), tmp_path / "lake", tmp_path / "page.html"
    server.execute(
        "CREATE EXTENSION pg_stat_statements", "CREATE ROLE ann LOGIN PASSWORD 'leak8003zq'", "GRANT pg_monitor TO ann"
    )
    with typing(server, corpus):
        time.sleep(1)
        dsn = server.dsn("ann")
        arguments = ("--for", "12s", "--dsn", dsn, "--lake", lake, "--html", page, "--json")
        said = run("checkup", *arguments, environment={"PGPASSWORD": "leak8003zq"})
    assert corpus.made == len(PROGRAMS) + len(POSTGRES) + 1
    assert secrets_in(said) == []
    assert secrets_in(page.read_text()) == []
    assert secrets_in(held(lake)) == []
    with Lake(lake).connect() as connection:
        programs = {row[0] for row in connection.sql("SELECT DISTINCT program FROM session").fetchall()}
        texts = [row[0] for row in connection.sql("SELECT DISTINCT text FROM statement WHERE text <> ''").fetchall()]
    assert programs & {"app password", "tool", "app"}, "names stay"
    assert any(text.startswith("SET app.token") for text in texts), "and so do the statements"
    log = tmp_path / "server.log"
    log.write_text(server.log)
    assert len(secrets_in(server.log)) > len(POSTGRES) / 2, "the server wrote them down"
    assert secrets_in(run("diagnose", log, "--json")) == []


@pytest.mark.server
def test_a_slow_log_of_mariadb(tmp_path: Path) -> None:
    corpus, lake, slow = Corpus(), tmp_path / "lake", tmp_path / "slow.log"
    with running_mariadb(slow_query_log=1, slow_query_log_file="slow.log", long_query_time=0) as server:
        with closing(pymysql.connect(user="root", unix_socket=str(server.socket))) as connection:
            for text in corpus.all(MYSQL):
                with suppress(pymysql.Error), connection.cursor() as cursor:
                    cursor.execute(text)
        slow.write_bytes((server.folder / "data" / "slow.log").read_bytes())
        assert secrets_in(run("lint", "--dsn", f"mysql://root@/{server.socket}")) == []
    assert len(secrets_in(slow.read_text())) > len(MYSQL) / 2, "the server wrote them down"
    assert secrets_in(run("read", slow, "--lake", lake)) == []
    assert secrets_in(held(lake)) == []
    assert secrets_in(run("diagnose", slow, "--json")) == []
