"""What servers wait for: the kinds that are the same for all, and each vendor's events with their class and kind."""
