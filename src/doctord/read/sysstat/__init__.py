"""What sysstat's collectors left: sar's binary and text files, and JSON."""

from doctord.read.format import Format

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = ()
