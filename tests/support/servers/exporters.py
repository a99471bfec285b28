"""Exporters and a Prometheus for tests and benchmarks: started on free ports as an unprivileged user, and ended again.

Debian's prometheus, prometheus-node-exporter, prometheus-postgres-exporter, prometheus-mysqld-exporter.
"""

import os
import pwd
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from servers import free_port

START_S = 30
STOP_S = 10
PROMETHEUS, NODE = "prometheus", "prometheus-node-exporter"
POSTGRES, MYSQLD = "prometheus-postgres-exporter", "prometheus-mysqld-exporter"

# What postgres_exporter tells of sessions from 0.17 on, for the 0.11 that Debian 12 has; its own session is among them,
# as it is until 0.18. Background processes, which have no state, are left out there too.
WAIT_EVENTS = """
pg_stat_activity:
  query: |
    select coalesce(datname, '') as datname, state, coalesce(usename, '') as usename, application_name, backend_type,
           coalesce(wait_event_type, '') as wait_event_type, coalesce(wait_event, '') as wait_event,
           count(*) as count, coalesce(max(extract(epoch from now() - xact_start)), 0)::float as max_tx_duration
    from pg_stat_activity where state is not null group by 1, 2, 3, 4, 5, 6, 7
  metrics:
    - datname: {usage: LABEL, description: database}
    - state: {usage: LABEL, description: state}
    - usename: {usage: LABEL, description: user}
    - application_name: {usage: LABEL, description: program}
    - backend_type: {usage: LABEL, description: kind of process}
    - wait_event_type: {usage: LABEL, description: type of wait event}
    - wait_event: {usage: LABEL, description: wait event}
    - count: {usage: GAUGE, description: sessions}
    - max_tx_duration: {usage: GAUGE, description: seconds}
"""


def missing(*programs: str) -> str | None:
    """Which of these programs are not installed; null where all are."""
    lacking = [program for program in programs if shutil.which(program) is None]
    return f"not installed: {', '.join(lacking)} (Debian's packages of these names)" if lacking else None


@contextmanager
def node_exporter(folder: Path) -> Iterator[int]:
    """The port of a node_exporter."""
    port = free_port()
    with _running(folder, NODE, port, f"--web.listen-address=127.0.0.1:{port}"):
        yield port


@contextmanager
def postgres_exporter(
    folder: Path, dsn: str, *, with_waits: bool = False, user: str = "nobody", options: tuple[str, ...] = ()
) -> Iterator[int]:
    """The port of a postgres_exporter on a server; `with_waits`: it counts sessions by wait event too."""
    port, queries = free_port(), folder / f"queries-{free_port()}.yaml"
    queries.write_text(WAIT_EVENTS if with_waits else "{}")
    queries.chmod(0o644)
    words = (f"--web.listen-address=127.0.0.1:{port}", f"--extend.query-path={queries}", *options)
    with _running(folder, POSTGRES, port, *words, user=user, environment={"DATA_SOURCE_NAME": dsn}):
        yield port


@contextmanager
def mysqld_exporter(folder: Path, dsn: str) -> Iterator[int]:
    """The port of a mysqld_exporter (before 0.15, which takes it from the environment) on a server."""
    port = free_port()
    words = (f"--web.listen-address=127.0.0.1:{port}", "--collect.info_schema.processlist")
    with _running(folder, MYSQLD, port, *words, environment={"DATA_SOURCE_NAME": dsn}):
        yield port


@contextmanager
def prometheus(folder: Path, jobs: Mapping[str, int], every_s: float = 1) -> Iterator[str]:
    """The address of a Prometheus that asks these jobs, each at its port on this host, so often.

    What it holds is in the folder, and can be asked again (`reopened`).
    """
    asked = "".join(
        f"  - job_name: {job}\n    static_configs: [{{targets: ['127.0.0.1:{at}']}}]\n" for job, at in jobs.items()
    )
    every = f"{round(every_s * 1000)}ms"
    text = f"global: {{scrape_interval: {every}, scrape_timeout: {every}}}\nscrape_configs:\n{asked}"
    with _prometheus(folder, text) as address:
        yield address


@contextmanager
def reopened(folder: Path) -> Iterator[str]:
    """The address of a Prometheus that holds what another left in a folder, and asks nobody."""
    with _prometheus(folder, "scrape_configs: []\n") as address:
        yield address


@contextmanager
def receiving_prometheus(folder: Path) -> Iterator[str]:
    """The address of a Prometheus that asks nobody, and takes what it is sent by remote write."""
    with _prometheus(folder, "scrape_configs: []\n", "--web.enable-remote-write-receiver") as address:
        yield address


@contextmanager
def _prometheus(folder: Path, config: str, *options: str) -> Iterator[str]:
    folder.mkdir(exist_ok=True)
    port, file = free_port(), folder / "prometheus.yml"
    file.write_text(config)
    for path in (folder, *folder.rglob("*")):
        _give(path, "nobody")
    words = (
        f"--config.file={file}", f"--storage.tsdb.path={folder}/tsdb", "--storage.tsdb.retention.time=50y",
        f"--web.listen-address=127.0.0.1:{port}", *options,
    )  # fmt: skip
    with _running(folder, PROMETHEUS, port, *words, ready="/-/ready"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _running(
    folder: Path,
    program: str,
    port: int,
    *words: str,
    user: str = "nobody",
    environment: Mapping[str, str] | None = None,
    ready: str = "/metrics",
) -> Iterator[None]:
    log = folder / f"{program}-{port}.log"
    # It goes where whoever started it goes, by any way.
    command = ["setpriv", "--pdeathsig", "KILL"]
    if os.geteuid() == 0:
        account = pwd.getpwnam(user)
        command += [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*command, "--", program, *words],
            stdout=output, stderr=output, cwd="/", env={"PATH": os.environ["PATH"], **(environment or {})},
        )  # fmt: skip
    try:
        _wait(process, f"http://127.0.0.1:{port}{ready}", log)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_S)


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=START_S) as answer:  # noqa: S310 - ours
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"it does not start:\n{log.read_text()}")


def _give(folder: Path, user: str) -> None:
    if os.geteuid() == 0:
        account = pwd.getpwnam(user)
        os.chown(folder, account.pw_uid, account.pw_gid)
