"""What the databases of a host want of it: shared memory, processes."""

from doctord.lint.oracle.figures import sga_bytes
from doctord.lint.subject import Subject

DATABASES = ("postgresql", "mysql", "oracle")


def databases(subject: Subject) -> list[Subject]:
    """The database servers whose settings are known beside the host's."""
    return [one for one in subject.others if one.component in DATABASES]


def shared_bytes(server: Subject) -> float | None:
    """Shared memory that a server maps: shared_buffers or SGA; null where it is not known, or has none."""
    if server.component == "postgresql":
        return server.number("shared_buffers")
    return sga_bytes(server) if server.component == "oracle" else None


def memory_of(server: Subject) -> float | None:
    """The memory that a server takes for itself whatever its load: shared memory, or InnoDB's buffer pool."""
    return server.number("innodb_buffer_pool_size") if server.component == "mysql" else shared_bytes(server)


def processes_of(server: Subject) -> float | None:
    """How many processes or threads a server may start for its clients; null where it is not known."""
    return server.number("processes" if server.component == "oracle" else "max_connections")
