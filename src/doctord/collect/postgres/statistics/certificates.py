"""Certificates of a server: for how long those in its files hold, and the one that it shows; and who uses TLS."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.certificate import Validity, in_file, validity
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.connection.served_certificate import served
from doctord.collect.postgres.statistics.figures import Figures

_SETTINGS: Final = """\
SELECT /* doctord */ current_setting('ssl') = 'on' AS is_on, current_setting('ssl_cert_file') AS ssl_cert_file,
       current_setting('ssl_ca_file') AS ssl_ca_file, current_setting('data_directory') AS folder,
       current_setting('port')::int AS port, current_setting('listen_addresses') AS addresses
"""
# Ours verifies nothing.
_SESSIONS: Final = """\
SELECT /* doctord */ count(*) FILTER (WHERE s.ssl) AS "pg_stat_ssl.sessions",
       date_part('epoch', clock_timestamp() - max(a.backend_start) FILTER (WHERE s.ssl)) AS "pg_stat_ssl.newest_s"
FROM pg_stat_activity AS a JOIN pg_stat_ssl AS s ON s.pid = a.pid
WHERE a.backend_type = 'client backend' AND a.application_name NOT LIKE 'doctord%'
"""
_LOOPBACK: Final = ("*", "0.0.0.0", "localhost", "127.0.0.1")  # noqa: S104 - looked for, not listened at
_HINT: Final = "run on the server's host as root or as its user: openssl x509 -noout -enddate -in FILE"


class Certificates:
    """Fills `statistic` with the time that is left to each certificate, and what has passed, in seconds.

    Of ssl_cert_file the server's own counts, which stands first; of ssl_ca_file the one that holds longest: while one
    authority holds, its clients are let in. What the server shows may be another than the file has: it reads the file
    at its start and at a reload.
    """

    name = "certificates"

    def __init__(self) -> None:
        """Due at the start, then once an hour."""
        self.cadence = Cadence(every_s=3600)

    def read(self, link: Link) -> list[Batch]:
        """What holds for how long; nothing where TLS is off."""
        asked = link.query(_SETTINGS)[0]
        if not asked["is_on"]:
            return []
        found = _in_files(asked, link) | _shown(asked, link)
        if not found:
            why = "neither its file may be read nor does it show one"
            link.notices.not_measured(link.db, "until when the server's certificate holds", why, _HINT)
        figures, now = Figures(link.db), datetime.now(UTC)
        for entity, times in found.items():
            figures.gauge("certificate.left_s", (times.ends - now).total_seconds(), "s", entity)
            figures.gauge("certificate.held_s", (now - times.begins).total_seconds(), "s", entity)
        figures.gauges(link.query(_SESSIONS)[0])
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""


def _in_files(asked: dict[str, Any], link: Link) -> dict[str, Validity]:
    """Of the files that may be read, where the server runs on this host."""
    pid = link.server_pid()
    if pid is None:
        return {}
    own, authorities = (
        _read(pid, Path(asked["folder"], asked[name])) if asked[name] else []
        for name in ("ssl_cert_file", "ssl_ca_file")
    )
    found = {f"ssl_cert_file {asked['ssl_cert_file']}": own[0]} if own else {}
    if authorities:
        found[f"ssl_ca_file {asked['ssl_ca_file']}"] = max(authorities, key=lambda times: times.ends)
    return found


def _read(pid: int, path: Path) -> list[Validity]:
    """The certificates of a file, which the server may see in a container; none where it may not be read."""
    outside = Path(f"/proc/{pid}/root{path}")
    try:
        return in_file((outside if os.access(outside, os.R_OK) else path).read_text(encoding="ascii", errors="replace"))
    except (OSError, ValueError):
        return []


def _shown(asked: dict[str, Any], link: Link) -> dict[str, Validity]:
    """Of the certificate that the running server shows over TCP."""
    where = _address(asked, link)
    der = served(*where) if where else None
    try:
        return {f"in use at {where[0]}:{where[1]}": validity(der)} if where and der else {}
    except ValueError:
        return {}


def _address(asked: dict[str, Any], link: Link) -> tuple[str, int] | None:
    """Where the server answers over TCP: as we reach it, else at the loopback, if that is the server's too."""
    pid = link.server_pid()
    if pid is None:
        parameters = link.target.parameters
        host = str(parameters.get("hostaddr") or parameters.get("host") or "")
        is_one = host and not host.startswith(("/", "@")) and "," not in host
        return (host, asked["port"]) if is_one and link.connection else None
    addresses = {address.strip() for address in asked["addresses"].split(",")}
    return ("127.0.0.1", asked["port"]) if addresses & {*_LOOPBACK} and _is_of_this_network(pid) else None


def _is_of_this_network(pid: int) -> bool:
    """Whether a process has the network that we have, and not that of a container."""
    try:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino == Path("/proc/self/ns/net").stat().st_ino
    except OSError:
        return False
