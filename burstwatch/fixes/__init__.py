"""Says what helps a bucket that runs dry: the change, its command for AWS, and its price."""
