"""The account of each disk: the range that its credits lie in, from its counters and from what AWS publishes."""
