"""Everything that talks to AWS. The only folder that imports boto3."""
