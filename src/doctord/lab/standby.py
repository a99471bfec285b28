"""A standby of the private server: a copy of it that follows, and answers queries."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from doctord.lab.errors import LabError
from doctord.lab.host.folder import give
from doctord.lab.host.processes import server_user, tied
from doctord.lab.server import PrivateServer, running_server

# It tells its oldest snapshot (hot_standby_feedback) every second, where ten are the default, and cancels no query for
# what was removed before it had told it.
_SETTINGS = {
    "hot_standby_feedback": "on",
    "wal_receiver_status_interval": "1s",
    "max_standby_streaming_delay": "-1",
    "shared_buffers": "64MB",
    "cluster_name": "standby",
}


@contextmanager
def standby_of(server: PrivateServer, settings: Mapping[str, str] | None = None) -> Iterator[PrivateServer]:
    """A running standby that asks its primary to keep what its queries need; `settings` are further ones of its own.

    Raises:
        LabError: it cannot be made, or does not start.
    """
    home = server.folder / "standby"
    home.mkdir()
    give(home)
    copy: list[str | Path] = [server.binaries / "pg_basebackup", "--write-recovery-conf", "--checkpoint=fast"]
    command = tied([*copy, "--no-sync", "-D", home / "data", "-d", server.dsn], user=server_user())
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError("the standby could not be made", f"pg_basebackup said: {done.stderr.strip()}")
    with running_server(server.binaries, home, home / "data", {**_SETTINGS, **(settings or {})}) as standby:
        yield standby
