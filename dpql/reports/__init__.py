"""Signed reports that anybody can verify, without trusting the sender."""
