"""Mistakes put into emitted texts, one at a time, and whether the check of a run finds them."""
