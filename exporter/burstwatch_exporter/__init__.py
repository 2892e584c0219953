"""The host exporter: burst credits as the host itself can know them, by the second."""
