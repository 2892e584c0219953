"""EBS numbers and what they mean: volume types, volumes, instance types, prices, fixes, load."""
