"""Latencies of PostgreSQL servers: timed by bpftrace at their probes, else means of their own counters."""
