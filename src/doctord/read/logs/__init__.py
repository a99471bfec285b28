"""Logs of database servers."""

from doctord.read.format import Format
from doctord.read.logs import postgresql

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (postgresql,)
