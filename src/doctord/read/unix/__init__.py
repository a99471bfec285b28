"""Texts of the interactive tools: iostat, vmstat, mpstat, prstat and their like."""

from doctord.read.format import Format

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = ()
