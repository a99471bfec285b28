"""The host: its processors, memory's translation, disks, file systems, control groups and processes."""
