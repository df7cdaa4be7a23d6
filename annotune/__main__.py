"""``annotune``, and ``python -m annotune``: from its first moment on, Ctrl-C ends it in silence."""

import signal


def main() -> None:
    """Run the command line. A run that can keep what it has puts a handler of its own."""
    # Python's own would raise wherever it is, inside an import too. One that ignores is kept.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from annotune import cli

    cli.main()


if __name__ == "__main__":
    main()
