"""Oracle: reports, traces, logs and parameter files."""
