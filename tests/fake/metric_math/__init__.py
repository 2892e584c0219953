"""CloudWatch metric math, SEARCH and Metrics Insights, for the strict fake and the dashboards of the demo."""
