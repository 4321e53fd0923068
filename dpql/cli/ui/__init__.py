"""What people see: streams, colours, widths, progress, faults, exit codes."""
