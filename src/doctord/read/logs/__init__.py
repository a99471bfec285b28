"""Logs of database servers."""

from doctord.read.format import Format
from doctord.read.logs import mysql_error, mysql_slow, postgresql

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (postgresql, mysql_slow, mysql_error)
