"""What a PostgreSQL server counts itself: a file for each kind of thing; `collector` asks each at its cadence."""
