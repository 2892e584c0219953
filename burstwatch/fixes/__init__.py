"""Says what helps a bucket that runs out: the change, its command for AWS, and its price."""
