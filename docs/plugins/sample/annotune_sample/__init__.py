"""One transform, one strategy and one search for annotune."""
