"""What is said of load tests: of a database, and of a device or file system."""
