"""Reports, traces, logs and parameter files of Oracle."""

from doctord.read.format import Format
from doctord.read.oracle import (
    addm,
    alert_log,
    ash,
    awr,
    awr_miner,
    awr_text,
    listener_log,
    parameter_file,
    statspack,
    top_events,
    trace_10046,
)

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (
    awr_miner,
    trace_10046,
    awr,
    awr_text,
    statspack,
    top_events,
    ash,
    addm,
    listener_log,
    alert_log,
    parameter_file,
)
