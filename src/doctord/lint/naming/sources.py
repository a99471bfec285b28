"""Where names of hosts and users are looked up, and in which order."""

import re
from collections.abc import Iterator
from typing import Final

from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

# What asks another machine, or the cluster's framework, at each look-up.
ASK_ELSEWHERE: Final = ("cluster", "nis", "nisplus", "ldap", "dns", "winbind", "wins", "hesiod", "compat")
# What every new connection looks up.
OF_CONNECTIONS: Final = ("hosts", "ipnodes", "passwd", "group", "services", "netmasks")


@rule("nsswitch")
def slow_source_before_files(subject: Subject) -> Iterator[Violation]:
    """A cluster or network service is asked before the host's own files.

    Why: a process that takes connections looks names up for each: a question to the cluster's framework or to another
        machine, and a time-out when that does not answer, before a file is read that has the name.
    Evidence: the order of sources of hosts, passwd, group, services and netmasks.
    Fix: Put files first, and keep in them the names that the database's hosts use; where the cluster's agents need
        their own source for hosts and netmasks, keep it there and ask their documentation.
    Verify: A trace of the listener (doctord trace): the calls to the service (cladm, sockets to port 53 or 389) are
        gone from the pass; connections a second.
    Source: R. Milkowski, "Oracle's listener performance", 2008 (75 calls of cladm() a connection); nsswitch.conf(4).
    """
    for name in OF_CONNECTIONS:
        found = subject.explicit(name)
        sources = re.sub(r"\[.*?\]", "", found.value).lower().split() if found else []
        before = sources[: sources.index("files")] if "files" in sources else []
        slow = [source for source in before if source in ASK_ELSEWHERE]
        if found and slow:
            yield subject.violation(
                f"{name}: {' and '.join(slow)} before files",
                name,
                cost=f"{CANNOT_JUDGE} how long each look-up takes: a trace of the listener tells (doctord trace)",
                severity=Severity.WARNING if "cluster" in slow else Severity.NOTE,
                changes=[subject.change(name, " ".join(["files", *(one for one in sources if one != "files")]), "now")],
            )
