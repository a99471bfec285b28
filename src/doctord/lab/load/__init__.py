"""What runs against the private server: the light load, and what faults add to it."""
