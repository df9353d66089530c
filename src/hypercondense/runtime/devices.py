"""Where tensors live: a device that cannot compute is found out at the start."""

from hypercondense.errors import ConfigError, one_line


def check_device(device: str) -> None:
    """Find out that a device does not exist or cannot compute.

    >>> check_device("cpu")
    """
    import torch

    try:
        torch.empty(1, device=device).tolist()  # a meta tensor has no numbers
    except Exception as error:  # some look for a library of their own that is not there
        reason = one_line(error, longest=200)
        raise ConfigError(f"device {device!r} cannot be used here ({reason}); try cpu") from error
