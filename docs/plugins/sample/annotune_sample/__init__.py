"""One transform, one strategy, one target, one search and one annotation module for annotune."""
