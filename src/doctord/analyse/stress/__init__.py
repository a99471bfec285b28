"""What comes of a load test: latencies by second, the knee, and what the page cache hid."""
