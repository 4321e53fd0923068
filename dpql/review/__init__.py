"""A plan for people: explained, compared with another, and with other settings."""
