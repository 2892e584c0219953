"""One file of worked examples per kind, all of whose names the conformance test reads.

``ITEMS`` and ``FOUND`` (by lookup) are what AWS would answer; one item has the tag ``Name`` with
the value ``orders-db``. ``TAGGED`` is what the tagging API lists of them, for a kind whose listing has
no tags: an entry for each item that has a bucket. ``BUCKETS`` are what AWS documents for them, by the resource's key: refill, burst,
capacity and whole seconds from full to empty, or None for no bucket. ``LEVELS`` are values of the
level metric with the share of the bucket that each stands for. ``VALUES`` are one minute's
datapoints of the first item's demand, and ``NOMINAL_PER_S`` the credits a second that they cost.
``SPEC`` describes a resource with a bucket by hand, and ``LOAD`` a load above what comes in.
``DOCUMENTED_METRICS`` and ``DOCUMENTED_DIMENSIONS`` are what AWS's page ``METRICS_PAGE`` had in
``METRICS_READ``, as CloudWatch has no model of its metrics.
"""
