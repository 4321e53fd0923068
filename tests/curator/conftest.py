"""What tests of the curator share."""
