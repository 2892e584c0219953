"""What is shown of the host: metrics for Prometheus, and a page for people."""
