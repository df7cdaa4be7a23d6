"""One transform, one strategy, one target and one search for annotune."""
