"""Lake: what was recorded, kept safe and queried."""
