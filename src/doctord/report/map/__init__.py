"""Latency maps: on a terminal, as pages, pictures and records."""
