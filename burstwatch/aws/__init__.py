"""The only package that imports botocore, which the extra ``aws`` installs with boto3."""
