"""The way between a database server and its clients elsewhere, as the kernel's TCP measures their connections."""

from typing import NamedTuple

from doctord.diagnose.case import Case

# The names under which the collector tells it, by listening socket.
OF_CLIENTS = "tcp_clients."


class Way(NamedTuple):
    """Means over the connections at one listening socket whose other end is elsewhere; null where nobody sent anything.

    `round_trip_ms` is what the segments took there and back, `least_round_trip_ms` the least that they ever did: the
    difference is time in queues. `travel_s_per_s` is how many clients were waiting for requests and answers to travel.
    `refused` is how many connections had something to send and nothing under way: their clients take nothing.
    """

    socket: str
    connections: float
    refused: float
    round_trip_ms: float | None
    least_round_trip_ms: float | None
    in_flight_bytes: float
    unsent_bytes: float
    sent_bytes_per_s: float | None
    lost: float | None
    travel_s_per_s: float | None


def ways(case: Case) -> list[Way]:
    """The ways to the servers that were seen, the one with most connections first; none where nobody is elsewhere.

    A server that is named without a port (Oracle's service) may be behind any socket.
    """
    ports = {db.rpartition(":")[2] for db in case.dbs}
    is_told = bool(ports) and all(port.isdigit() for port in ports)
    at = [figure.entity or "" for figure in case.figures(f"{OF_CLIENTS}connections")]
    return [_way(case, socket) for socket in at if not is_told or socket.rpartition(":")[2] in ports]


def server_of(case: Case, way: Way) -> str | None:
    """The server whose clients come by a way, by its port; null where that does not tell it."""
    port = way.socket.rpartition(":")[2]
    return next((db for db in case.dbs if db.rpartition(":")[2] == port), None)


def _way(case: Case, socket: str) -> Way:
    def told(name: str) -> float | None:
        return next((one.mean for one in case.figures(f"{OF_CLIENTS}{name}") if one.entity == socket), None)

    segments, again = told("segments_per_s"), told("retransmits_per_s")
    return Way(
        socket,
        told("connections") or 0.0,
        told("refused") or 0.0,
        told("round_trip_ms"),
        told("least_round_trip_ms"),
        told("in_flight_bytes") or 0.0,
        told("unsent_bytes") or 0.0,
        told("sent_bytes_per_s"),
        again / segments if segments and again is not None else None,
        told("travel_s_per_s"),
    )
