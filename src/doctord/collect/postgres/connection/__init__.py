"""Connecting to PostgreSQL: as libpq does, as whom, and how a connection that is lost comes back."""
