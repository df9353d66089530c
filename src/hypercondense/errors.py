"""Errors a caller may want to catch. Wrong arguments are plain ``ValueError`` and ``TypeError``."""

_LONGEST = 1000  # letters of a message; more is half a file repeated


class HypercondenseError(Exception):
    """Base of every error below; its text is one line that says what to do."""


class DatasetNotFoundError(HypercondenseError):
    """A registered or named source is not on this machine."""


class FormatError(HypercondenseError):
    """A file is not what its format promises."""


class FetchError(HypercondenseError):
    """A download did not arrive whole."""


class ConfigError(HypercondenseError):
    """An option is unknown or has an impossible value."""


class CondensationError(HypercondenseError):
    """Condensing broke down half-way (a loss became NaN, memory ran out)."""


def one_line(error: BaseException, *, kind: bool = False) -> str:
    r"""What an error says, in one line; its type where it says nothing, or before it with ``kind``.

    >>> one_line(ValueError("no\n such"), kind=True), one_line(EOFError())
    ('ValueError: no such', 'EOFError')
    """
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    text = " ".join(text.split())
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} ..."
    name = type(error).__name__
    return f"{name}: {text}" if kind and text else text or name
