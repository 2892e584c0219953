"""What was seen of a resource: levels and demand on an even grid, and how they are cut at an instant."""
