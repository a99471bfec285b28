"""Latencies of Oracle servers, from their own histograms."""
