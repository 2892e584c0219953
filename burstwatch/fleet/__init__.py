"""A fleet as a Prometheus endpoint: polls units as the sweep does, and publishes what it found."""
