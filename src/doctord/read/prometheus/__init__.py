"""Prometheus: scrapes of exporters, and answers of its HTTP API."""
