"""A strict fake of EC2, CloudWatch, SNS and STS on the wire.

The local cloud is softer than AWS: it takes 501 queries, returns every volume in
one page and enforces no permission. This one has the limits, page sizes, partial
data, throttling, denials and delays, each by script. It speaks the protocols of
botocore's own models, so that a field AWS does not have cannot be sent or received.
"""
