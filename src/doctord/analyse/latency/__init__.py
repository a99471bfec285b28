"""Latency maps: histograms over time, and what they show."""
