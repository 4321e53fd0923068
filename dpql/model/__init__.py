"""The frozen values that stages hand to one another."""
