"""The frozen values that the stages exchange."""
