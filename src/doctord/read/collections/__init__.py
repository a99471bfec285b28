"""Archives of collectors: OSWatcher, nmon, collectl, dstat, atop, PCP, Prometheus, CSV, and tables of figures."""

from doctord.read.collections import (
    atop,
    chart_csv,
    collectl,
    csv_mapping,
    dated_figures,
    dstat,
    nmon,
    oswatcher,
    pcp,
    prometheus_json,
    prometheus_text,
    ps,
    slabinfo,
    table_file,
    top,
)
from doctord.read.format import Format

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (
    table_file,
    csv_mapping,
    oswatcher,
    pcp,
    nmon,
    atop,
    collectl,
    dstat,
    prometheus_text,
    prometheus_json,
    slabinfo,
    top,
    ps,
    chart_csv,
    dated_figures,
)
