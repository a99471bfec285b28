"""What an interval of files holds: read, put on one clock, parted by host, database and time."""
