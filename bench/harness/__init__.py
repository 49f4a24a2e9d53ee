"""The parts of bench/compare.py: test data, tools, measurement and the report."""
