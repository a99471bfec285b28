"""Before and after: what differs, by how much, and whether that is more than chance."""
