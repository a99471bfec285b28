"""What a host or its hypervisor tells about itself: memory, CPUs, settings, mounts, limits, units, z/VM screens."""

from doctord.read.format import Format
from doctord.read.host import labels, limits, lscpu, meminfo, mounts, multipath, sysctl, systemd, udev, zvm

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (zvm, meminfo, multipath, lscpu, sysctl, systemd, udev, limits, mounts, labels)
