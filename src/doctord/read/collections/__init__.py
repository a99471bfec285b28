"""Archives of collectors: OSWatcher, nmon, collectl, dstat, atop, PCP, Prometheus, CSV."""

from doctord.read.collections import nmon
from doctord.read.format import Format

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (nmon,)
