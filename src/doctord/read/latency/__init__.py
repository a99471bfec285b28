"""Readers of files that hold latencies: each fills the table `latency`."""
