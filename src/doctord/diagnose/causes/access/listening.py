"""Where a server listens and no client comes to it: a socket whose file is gone, an address that is not the host's."""

from collections.abc import Iterator, Sequence
from typing import Final

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

FILE: Final = "listening.socket_file"
LOCK: Final = "listening.lock_file"
LISTENED: Final = "listening.at_address"
OF_HOST: Final = "listening.address_of_host"


@cause(explains=("errors_logged",))
def socket_file_missing(case: Case) -> Iterator[Claim]:
    """The file of the server's Unix socket was removed: no client on its host comes in that way.

    Looks like: "connection to server on socket ... failed: No such file or directory" on the server's own host, while
        those who come over TCP are served; psql without -h fails.
    Hurts because: the server listens at a socket that no path leads to any more, and does not notice: all that
        connects without an address fails (scripts, backups, poolers beside it, the check of a cluster's manager).
    Speaks for it: the kernel's list of sockets that listen (/proc/net/unix) has its path, and no file is there where
        the server lives; the lock file beside it is gone as well, as after a job that cleans /tmp.
    Speaks against it: another of its sockets has its file: clients that look there come in.
    Remedy: Restart the server at a quiet time: only a start makes the file anew; until then clients come in over TCP
        (host=localhost). Then keep it from being removed: unix_socket_directories = '/run/postgresql' in place of /tmp,
        or an exception of the job that cleaned (tmpfiles.d: x /tmp/.s.PGSQL.*; tmpwatch, tmpreaper: --exclude);
        PrivateTmp=yes hides a server's /tmp from its clients.
    Verify: ls -l shows the socket, and psql -h with its folder connects.
    Source: PostgreSQL documentation, unix_socket_directories (the lock file, /tmp and its cleaners); unix(7),
        pathname sockets; tmpfiles.d(5).
    """
    for db in case.dbs:
        files = [one for one in case.figures(FILE) if one.db == db]
        gone, left = [one for one in files if one.last == 0], [one for one in files if one.last]
        if gone:
            yield Claim(
                phrase("The file of {}'s Unix socket is gone: nobody comes in by {}", db, gone[0].entity),
                impact=NOT_MEASURED,
                confidence=0.95,
                severity="warning" if left else "critical",
                for_=[*map(_gone, gone), *_locks(case, gone)],
                against=[
                    Evidence("statistic", f"name = '{FILE}' and entity = '{one.entity}'",
                             phrase("{} is there", one.entity), "", "who looks for it there comes in")
                    for one in left
                ],
                database=db,
            )  # fmt: skip


@cause(explains=("errors_logged",))
def listen_address_missing(case: Case) -> Iterator[Claim]:
    """An address that the server is to listen at leads no client to it.

    Looks like: clients of one address are refused or get no answer, those of another are served.
    Hurts because: a server starts where one of its addresses can be bound, and warns of the others in its log alone;
        an address that is taken from the host later (DHCP, a virtual address that moved) is lost without a word.
    Speaks for it: an address in listen_addresses that is none of this host's now, or at which nobody listens on the
        server's port.
    Speaks against it: nothing: it was looked for in the server's own network namespace. Where an address may come later
        (net.ipv4.ip_nonlocal_bind = 1, as keepalived wants it) nothing is said of it.
    Remedy: Give the address back to the host (ip addr), or name the right ones in listen_addresses and restart, which
        alone binds anew. A server that starts before its network: After=network-online.target for its unit, or
        ip_nonlocal_bind.
    Verify: ss -ltn shows the address with the server's port, and a client of that network comes in.
    Source: PostgreSQL documentation, listen_addresses; bind(2), EADDRNOTAVAIL; ip(7), ip_nonlocal_bind.
    """
    for db in case.dbs:
        lost = {
            one.entity: one for name in (LISTENED, OF_HOST) for one in case.figures(name)
            if one.db == db and one.last == 0
        }  # fmt: skip
        for address, one in lost.items():
            yield Claim(
                phrase("{} is to listen at {}, and no client comes in there", db, address),
                impact=NOT_MEASURED,
                confidence=0.9,
                severity="warning",
                for_=[
                    Evidence("statistic", f"name = '{one.name}' and entity = '{address}'",
                             phrase("{}", address), "",
                             "it is no address of this host" if one.name == OF_HOST else "nobody listens there")
                ],
                database=db,
            )  # fmt: skip


def _gone(one: Statistic) -> Evidence:
    return Evidence(
        "statistic",
        f"name = '{FILE}' and entity = '{one.entity}'",
        phrase("{}: the server listens, and no file is there", one.entity),
        "",
        "clients look for the file",
    )


def _locks(case: Case, gone: Sequence[Statistic]) -> list[Evidence]:
    """That the lock file beside a socket went with it."""
    names = {one.entity for one in gone}
    return [
        Evidence("statistic", f"name = '{LOCK}' and entity = '{one.entity}'",
                 phrase("{}.lock is gone too", one.entity), "",
                 "somebody cleaned the folder; another server could take its place now")
        for one in case.figures(LOCK) if one.entity in names and one.last == 0
    ]  # fmt: skip
