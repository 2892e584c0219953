"""The local cloud: an AWS without Docker, the real stack on it, and a fleet to watch."""
