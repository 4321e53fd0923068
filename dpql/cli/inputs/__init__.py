"""What commands are given: options, files, keys, releases."""
