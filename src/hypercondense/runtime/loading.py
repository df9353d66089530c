"""What is loaded when it is first used, loaded before the clock starts."""

import torch


def load_optimizers() -> None:
    """Make an optimizer: the first one of a process imports a compiler, for seconds, whatever it is used for.

    A training on everything would import it as well. It is no part of what a result costs.
    """
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])
