"""The scheduled sweep, as a Lambda function."""
