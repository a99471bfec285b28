"""Disks, the way to them, and what lies on them."""
