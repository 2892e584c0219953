"""One file of worked examples per kind.

``ITEMS`` and ``FOUND`` are what AWS would answer, one of them named ``db`` by its tag.
``BUCKETS`` are what AWS documents for
them, by the resource's key: refill, burst, capacity and whole seconds from full to empty.
``DOCUMENTED_METRICS`` and ``DOCUMENTED_DIMENSIONS`` are what AWS's page has: CloudWatch has no
model of its metrics. ``VALUES`` are one minute's datapoints of the first item.
"""
