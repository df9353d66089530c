"""What every line of results tells about the work."""

from pathlib import Path

import numpy as np
import pytest

from hypercondense.condensation import Condensation
from hypercondense.errors import ConfigError
from hypercondense.experiments.settings import Settings
from hypercondense.experiments.work import RunGroup, condensed_for, failure
from hypercondense.runtime.code_version import code_version
from makers.experiment_cases import plan_of


def test_a_line_names_the_code_that_made_it() -> None:
    line = failure(Settings(source="digits", ratio=0.01, method="random"), "broken")
    assert line["code"] == code_version()


def test_a_variant_may_share_nodes_out_otherwise(tmp_path: Path) -> None:
    generator = "generator = { num_nodes = 90, num_hyperedges = 50, num_classes = 3, class_balance = 0.5 }"
    text = f"""
        name = "shares"
        title = "Shares"
        [datasets.made]
        source = "synthetic"
        {generator}
        ratios = [0.1]
        [variants.usual]
        method = "random"
        [variants.equal]
        method = "random"
        allocate = "equal"
    """
    plan = plan_of(tmp_path, text)
    usual, equal = (plan.settings_at(place)[0] for place in plan.places())
    assert usual.condensation != equal.condensation and usual.key != equal.key
    condensed = condensed_for(RunGroup((equal,)))[2]
    assert isinstance(condensed, Condensation)
    assert np.bincount(condensed.hypergraph.labels).tolist() == [3, 3, 3]
    assert condensed.provenance.allocate == "equal"
    with pytest.raises(ConfigError, match=r"variants\.equal: the whole source has no options"):
        plan_of(
            tmp_path,
            text.replace('method = "random"\n        allocate', 'method = "whole"\n        allocate'),
        )


def test_lines_from_before_there_was_a_choice_keep_their_keys() -> None:
    settings = {"source": "cora", "ratio": 0.01, "method": "ahgcdd", "select": True}
    assert Settings(**settings, allocate="proportional").key == Settings(**settings).key  # type: ignore[arg-type]
    assert Settings(**settings).key == "e73627f36ead500057c641384ff46c1e"  # type: ignore[arg-type]
