"""Faults of MariaDB and MySQL: as those of PostgreSQL, under the same names where they are the same."""

from functools import partial
from typing import Final

from doctord.lab import fault as faults

fault: Final = partial(faults.fault, family="mysql")
