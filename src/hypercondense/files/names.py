"""Names that come from files and become names of files: the one place where they are checked."""

import re

#: Letters and digits, with spaces and - . _ between them: no separator, no beginning dot, no trick.
_PLAIN = re.compile(r"\w([\w .-]{0,98}\w)?")
_OF_WINDOWS = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # devices, whatever their ending


def check_file_name(name: str, *, taken: tuple[str, ...] = ()) -> str:
    """The name, if a file may be called so in any folder of any system.

    Raises:
        ValueError: It may not, or it is one of ``taken``.

    >>> check_file_name("main")
    'main'
    """
    is_taken = name.lower() in (other.lower() for other in taken)
    if not _PLAIN.fullmatch(name) or _OF_WINDOWS.fullmatch(name) or is_taken:
        but = f", and not {', '.join(taken)}" if taken else ""
        raise ValueError(
            "name must be a plain file name, of letters and digits with spaces and - . _ between them"
            f"{but}, got {name[:60]!r}"
        )
    return name
