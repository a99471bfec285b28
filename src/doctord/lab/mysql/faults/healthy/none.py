"""The healthy run."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.mysql.fault import fault
from doctord.lab.mysql.server import PrivateMySQL


@fault(cause=None)
def none(_server: PrivateMySQL, _dose: Dose) -> Iterator[None]:
    """No fault: the light load alone.

    A check-up has to find nothing.
    """
    yield
