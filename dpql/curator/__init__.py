"""The privacy boundary: the only room that sees rows or draws coins."""
