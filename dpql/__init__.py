"""dpql: differential privacy you can review, run exactly, and verify."""

__version__ = "0.1.0"
