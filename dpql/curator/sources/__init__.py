"""Sources read rows from files, URLs, frames and databases into canonical columns."""
