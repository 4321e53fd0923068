"""The verbs of dpql, and the order in which a run does things."""
