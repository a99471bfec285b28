"""A join whose condition was forgotten."""

import os
from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL
from doctord.lab.mysql.sessions import sessions_asking

_JOIN = "SELECT COUNT(*) FROM accounts a JOIN accounts b ON a.balance + b.balance > -1"


@fault(cause="cpu_few_statements")
def cartesian_joins(server: PrivateMySQL, dose: Dose) -> Iterator[None]:
    """As many sessions as there are CPUs, and more, join each account with each: they compute without end.

    Who is paid for it is one statement.
    """
    with sessions_asking(server, _JOIN, count=dose.of(1, 2, 4) * (os.cpu_count() or 1)):
        yield
