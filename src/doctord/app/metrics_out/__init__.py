"""What is true now on its way out, to receivers of metrics: Prometheus' remote write, and OTLP."""
