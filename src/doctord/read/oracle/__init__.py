"""Reports, traces, logs and parameter files of Oracle."""

from doctord.read.format import Format
from doctord.read.oracle import addm, ash, awr_miner, parameter_file

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (awr_miner, ash, addm, parameter_file)
