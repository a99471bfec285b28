"""What Linux tells about itself: memory, CPUs, settings, mounts, limits, units of systemd."""
