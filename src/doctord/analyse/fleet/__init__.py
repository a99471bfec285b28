"""Many hosts beside each other: whom a fault is common to, and who is unlike its peers."""
