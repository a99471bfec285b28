"""What sysstat's collectors left: sar's binary and text files, and JSON."""

from doctord.read.format import Format
from doctord.read.sysstat import sa_binary, sadf_json, sadf_lines, sar_text, tool_json

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (sa_binary, sadf_json, tool_json, sadf_lines, sar_text)
