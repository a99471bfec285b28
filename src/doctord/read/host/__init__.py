"""What a host or its hypervisor tells about itself: memory, CPUs, kernel settings, z/VM screens."""

from doctord.read.format import Format
from doctord.read.host import labels, lscpu, meminfo, multipath, sysctl, zvm

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (zvm, meminfo, multipath, lscpu, sysctl, labels)
