"""Tensor expressions: text to values, and values to annotated C."""
