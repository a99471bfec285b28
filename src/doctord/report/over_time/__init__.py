"""Documents of what a lake tells of over time, bucket by bucket."""
