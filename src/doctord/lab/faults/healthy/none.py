"""The healthy run."""

from collections.abc import Iterator

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.server import PrivateServer


@fault(cause=None)
def none(_server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """No fault: the light load alone.

    A check-up has to find nothing.
    """
    yield
