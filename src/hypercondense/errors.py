"""Errors a caller may want to catch. Wrong arguments are plain ``ValueError`` and ``TypeError``."""

import unicodedata

_LONGEST = 1000  # letters of a message; more is half a file repeated
_LONGEST_ABOUT_FILES, _BEGINNING = 300, 190


def safe(text: str, *, keep: str = "") -> str:
    r"""Text that may come from a file, for a terminal or a log: nothing in it can move the cursor or hide.

    Control characters (escapes, line breaks, marks that turn the direction of writing) become what Python
    writes for them; ``keep`` are those that are meant.

    >>> safe("\x1b[2Jcäts\n"), safe("a\tb\n", keep="\n")
    ('\\x1b[2Jcäts\\n', 'a\\tb\n')
    """
    if text.isprintable():
        return text
    return "".join(letter if _harmless(letter) or letter in keep else _escaped(letter) for letter in text)


def _harmless(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


class HypercondenseError(Exception):
    """Base of every error below; its text is one line that says what to do, safe to be shown anywhere."""

    def __init__(self, message: object = "") -> None:
        super().__init__(safe(" ".join(str(message).splitlines())))


class DatasetNotFoundError(HypercondenseError):
    """A registered or named source is not on this machine."""


class FormatError(HypercondenseError):
    """A file is not what its format promises. What it holds may be long: the text is at most 300 letters.

    >>> len(str(FormatError("a" * 5000)))
    300
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(message)
        text = str(self)
        if len(text) > _LONGEST_ABOUT_FILES:
            self.args = (f"{text[:_BEGINNING]} ... {text[_BEGINNING + 5 - _LONGEST_ABOUT_FILES :]}",)


class ConversionError(HypercondenseError, ValueError):
    """What another library holds cannot become a hypergraph of ours; the text has every reason found."""


class ConversionWarning(UserWarning):
    """Something is lost, left out or filled in by a conversion; the text says what."""


class FetchError(HypercondenseError):
    """A download did not arrive whole."""


class ConfigError(HypercondenseError):
    """An option is unknown or has an impossible value."""


class CondensationError(HypercondenseError):
    """Condensing broke down half-way (a loss became NaN, memory ran out)."""


class EngineError(HypercondenseError):
    """Work that was shared out broke down: processes or machines died again and again."""


def one_line(error: BaseException, *, kind: bool = False, longest: int = _LONGEST) -> str:
    r"""What an error says, in one line; its type where it says nothing, or before it with ``kind``.

    >>> one_line(ValueError("no\n such"), kind=True), one_line(EOFError())
    ('ValueError: no such', 'EOFError')
    """
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    text = safe(" ".join(text.split()))
    if len(text) > longest:
        text = f"{text[:longest]} ..."
    name = type(error).__name__
    return f"{name}: {text}" if kind and text else text or name
