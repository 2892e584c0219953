"""When to ask for a resource again, how deep, and what that costs."""
