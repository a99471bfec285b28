"""Latency maps: of what was recorded, of what happens now, and of a recording as it grew."""
