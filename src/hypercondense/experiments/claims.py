"""Which process works on what, where several run plans into one results file."""

from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

from hypercondense.files.locking import BusyError, exclusive
from hypercondense.files.storage import user_cache


class Claims:
    """Claims of this process on condensations of one results file; they end with the process."""

    def __init__(self, results: Path) -> None:
        name = sha256(str(results.resolve()).encode()).hexdigest()[:16]
        self.folder = user_cache("claims") / name
        self.held: dict[str, ExitStack] = {}

    def take(self, condensation: str) -> bool:
        """Claim a condensation; ``False`` if another process has done so."""
        claim = ExitStack()
        try:
            claim.enter_context(exclusive(self.folder / condensation, remove=True))
        except BusyError:
            return False
        self.held[condensation] = claim
        return True

    def release(self, condensation: str) -> None:
        """Give a claim back."""
        self.held.pop(condensation).close()

    def close(self) -> None:
        """Give all claims back."""
        for condensation in list(self.held):
            self.release(condensation)
