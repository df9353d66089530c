"""Errors a caller may want to catch. Wrong arguments are plain ``ValueError`` and ``TypeError``."""


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
