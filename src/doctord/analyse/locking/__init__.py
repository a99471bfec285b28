"""Who waits for whom: row and table locks by sampled sessions, and by the server's log."""
