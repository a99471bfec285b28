"""Rules on a host: kernel, block devices, mounts, units, limits."""
