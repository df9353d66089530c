"""Features made from labels."""

import numpy as np
import pytest

from hypercondense.data.formats.text import encode_labels
from hypercondense.data.label_features import label_features


def test_label_features_without_noise_are_one_hot() -> None:
    expected = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert label_features([1, 0, -1], width=4, noise=0, seed=5).tolist() == expected


def test_label_features_have_the_noise_they_say() -> None:
    labels = np.arange(2000) % 7
    noise = label_features(labels, width=50, noise=0.6, seed=1) - label_features(
        labels, width=50, noise=0, seed=1
    )
    assert noise.std() == pytest.approx(0.6, rel=0.01)
    assert noise.mean() == pytest.approx(0, abs=0.01)


def test_label_features_follow_the_seed() -> None:
    first, again, other = (label_features([0, 1], seed=seed) for seed in (0, 0, 1))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


@pytest.mark.parametrize(
    ("width", "noise", "message"), [(2, 0.6, "width 2"), (9, -1, "noise"), (9, np.nan, "noise")]
)
def test_impossible_label_features_are_refused(width: int, noise: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        label_features([0, 2], width=width, noise=noise)


def test_labels_are_put_in_order_of_value_or_alphabet() -> None:
    assert encode_labels(["10", "9", "-1"])[1] == ("-1", "9", "10")
    assert encode_labels(["b", "10", "9"])[1] == ("10", "9", "b")
    assert encode_labels(["", "a"])[0].tolist() == [-1, 0]
