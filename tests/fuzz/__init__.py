"""Fuzzing of everything that reads what others wrote: `make fuzz MINUTES=10`."""
