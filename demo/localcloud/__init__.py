"""LocalStack in host mode, with a Lambda runtime that needs no Docker."""
