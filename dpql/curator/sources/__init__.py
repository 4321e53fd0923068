"""Where rows lie, and how their cells become canonical."""
