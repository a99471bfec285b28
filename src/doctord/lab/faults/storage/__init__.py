"""Faults of disks, file systems and the way to them."""
