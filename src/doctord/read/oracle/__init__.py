"""Reports, traces, logs and parameter files of Oracle."""

from doctord.read.format import Format

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = ()
