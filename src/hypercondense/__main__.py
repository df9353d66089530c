"""``python -m hypercondense``."""

from hypercondense.cli import main

if __name__ == "__main__":
    main()
