"""What bench/compare.py is made of: test data, tools, measurement and the report."""
