"""Reports, traces, logs and parameter files of Oracle."""

from doctord.read.format import Format
from doctord.read.oracle import addm, alert_log, ash, awr, awr_miner, listener_log, parameter_file

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (awr_miner, awr, ash, addm, listener_log, alert_log, parameter_file)
