"""What tools of containers print."""
