"""Programs as SQL text, for tables that are too large to move; rows as units only.

A dialect is one small file here. No statement can fail on any cell: text is never cast
to a number, whatever is cast is clamped before, NaN is null from the first read on, and
sums are wide enough for any number of rows.
"""
