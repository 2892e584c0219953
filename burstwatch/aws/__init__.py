"""The only package that imports boto3, which the extra ``aws`` installs."""
