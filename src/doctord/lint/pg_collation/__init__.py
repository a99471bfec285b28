"""Rules on versions of collations, as a server of PostgreSQL tells them."""
