"""A plan for people: explained, compared with another, and supposed otherwise."""
