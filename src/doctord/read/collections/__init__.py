"""Archives of collectors: OSWatcher, nmon, collectl, dstat, atop, PCP, Prometheus, CSV."""

from doctord.read.collections import atop, dstat, nmon, oswatcher, prometheus_json, prometheus_text, ps, slabinfo, top
from doctord.read.format import Format

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (oswatcher, nmon, atop, dstat, prometheus_text, prometheus_json, slabinfo, top, ps)
