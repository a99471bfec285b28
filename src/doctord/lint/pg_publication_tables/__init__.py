"""Rules on what is published, as a server of PostgreSQL tells it."""
