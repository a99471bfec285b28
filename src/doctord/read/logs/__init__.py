"""Logs of database servers."""

from doctord.read.format import Format

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = ()
