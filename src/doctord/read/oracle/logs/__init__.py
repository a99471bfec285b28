"""Oracle's logs and traces: alert log, listener log, event 10046."""
