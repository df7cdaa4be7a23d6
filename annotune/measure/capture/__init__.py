"""Programs that record the arguments of their regions, and the records."""
