"""``python -m annotune``."""

from annotune.cli import main

main()
