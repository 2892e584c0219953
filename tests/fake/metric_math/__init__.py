"""CloudWatch metric math, SEARCH and Metrics Insights, for the local cloud and the strict fake."""
