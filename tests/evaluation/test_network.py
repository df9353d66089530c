"""Networks for use: what they predict, that they come back from a file, and what they refuse."""

import csv
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import hypercondense as hc
from hypercondense.errors import ConfigError, FormatError
from hypercondense.evaluation.metrics import calibration_error
from hypercondense.evaluation.network import TrainedNetwork, check_source, load_network, train
from hypercondense.files.storage import arrays_digest
from hypercondense.hypergraph import Hypergraph, Split


@pytest.fixture(scope="module")
def named(source: Hypergraph) -> Hypergraph:
    return dataclasses.replace(source, node_names=[f"customer, {node}" for node in range(source.num_nodes)])


@pytest.fixture(scope="module")
def result(named: Hypergraph, parts: Split) -> hc.Condensation:
    return hc.condense(named, parts, nodes=12, method="means", scale="standard")


@pytest.fixture(scope="module")
def network(result: hc.Condensation, named: Hypergraph, parts: Split) -> TrainedNetwork:
    return train(result, named, parts)


def test_accuracy_and_predictions_are_those_of_evaluate(
    network: TrainedNetwork, result: hc.Condensation, named: Hypergraph, parts: Split
) -> None:
    predicted = network.predict(named)
    right = np.mean(predicted.classes[parts.test_ids] == named.labels[parts.test_ids])
    assert network.facts.accuracy == pytest.approx(right)
    np.testing.assert_allclose(predicted.shares.sum(1), 1, rtol=1e-5)
    expected = calibration_error(named.labels[parts.test_ids], predicted.shares[parts.test_ids])
    assert network.facts.calibration == pytest.approx(expected)
    assert "calibration error" in repr(network) and len(repr(network)) < 150


def test_nodes_are_predicted_by_their_names(network: TrainedNetwork, named: Hypergraph) -> None:
    few = network.predict(["customer, 7", "customer, 3"])
    assert few.node_ids.tolist() == [7, 3]
    assert few.classes.tolist() == network.predict(named).classes[[7, 3]].tolist()
    with pytest.raises(ValueError, match="no node called 'nobody'"):
        network.predict(named, ["nobody"])
    mask = np.arange(named.num_nodes) == 7
    assert network.predict(named, mask).nodes == ("customer, 7",)
    with pytest.raises(ValueError, match="a mask needs an entry for each"):
        network.predict(named, mask[:-1])
    for one in ("customer, 7", 7):
        with pytest.raises(
            TypeError, match=r"nodes must be a list of names or numbers; for one node give \["
        ):
            network.predict(named, one)  # type: ignore[arg-type]


def test_a_network_comes_back_from_its_file_to_the_bit(
    network: TrainedNetwork, named: Hypergraph, tmp_path: Path
) -> None:
    network.save(tmp_path / "n.safetensors")
    again = load_network(tmp_path / "n.safetensors")
    assert again.facts == network.facts and again.scale == network.scale
    np.testing.assert_array_equal(again.predict(named).shares, network.predict(named).shares)
    with pytest.raises(ValueError, match=r"predict\(source, nodes\)"):
        again.predict(["customer, 7"])


def test_new_nodes_are_predicted_from_their_own_features_and_hyperedges(
    network: TrainedNetwork, named: Hypergraph
) -> None:
    """Two copies of the source that no hyperedge joins: each node of both is told as in the source."""
    count, hyperedges = named.num_nodes, named.num_hyperedges
    node_ids, hyperedge_ids, _ = named.incidence
    twice = Hypergraph(
        features=np.concatenate([named.dense_features()] * 2),
        labels=[-1] * (2 * count),
        label_names=[str(label) for label in range(named.num_classes)],
        incidence=(
            np.concatenate([node_ids, node_ids + count]),
            np.concatenate([hyperedge_ids, hyperedge_ids + hyperedges]),
        ),
        num_hyperedges=2 * hyperedges,
    )
    alone, both = network.predict(named).shares, network.predict(twice).shares
    np.testing.assert_allclose(both, np.concatenate([alone, alone]), atol=1e-5)


def test_other_features_are_refused(network: TrainedNetwork, named: Hypergraph) -> None:
    narrow = dataclasses.replace(named, features=named.dense_features()[:, :3])
    with pytest.raises(ValueError, match="knows 12 features, but synthetic has 3"):
        network.predict(narrow)


def test_without_its_source_the_last_epoch_is_used_and_said(
    result: hc.Condensation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: Hypergraph
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    alone = train(result)  # "synthetic" is a registered name, but of other data
    assert "it is the last" in alone.facts.notes[0] and alone.facts.accuracy is None
    assert len(alone.predict(named)) == named.num_nodes


def test_a_network_of_another_source_is_refused(
    network: TrainedNetwork, result: hc.Condensation, source: Hypergraph, parts: Split
) -> None:
    other = dataclasses.replace(source, labels=source.labels[::-1])
    theirs = hc.condense(other, nodes=12, method="means")
    check_source(network, result)
    with pytest.raises(ConfigError, match="trained for another source"):
        check_source(network, theirs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("facts"), "has no facts"),
        (lambda arrays: arrays.pop("weights.layers.0.weight"), "does not fit its facts"),
        (
            lambda arrays: arrays.update({"weights.layers.0.weight": np.full((128, 12), np.nan, np.float32)}),
            "fin",
        ),
        (lambda arrays: arrays.update(facts=_facts(arrays, num_classes=10**12)), "claims sizes"),
        (lambda arrays: arrays.update(facts=_facts(arrays, model="gpt")), "unknown model"),
        (lambda arrays: arrays.update(facts=_facts(arrays, format="x")), "must say format"),
        (lambda arrays: arrays.update(facts=_facts(arrays, version=9)), "version must be"),
    ],
)
def test_files_that_are_no_networks_are_refused_in_one_line(
    network: TrainedNetwork, tmp_path: Path, change, message
) -> None:
    network.save(tmp_path / "n.safetensors")
    arrays = load_file(tmp_path / "n.safetensors")
    del arrays["checksum"]
    change(arrays)
    arrays["checksum"] = np.frombuffer(arrays_digest(arrays), np.uint8)
    save_file(arrays, tmp_path / "n.safetensors")
    with pytest.raises(FormatError, match=message) as caught:
        load_network(tmp_path / "n.safetensors")
    assert "\n" not in str(caught.value)


def test_a_changed_weight_is_noticed(network: TrainedNetwork, tmp_path: Path) -> None:
    network.save(tmp_path / "n.safetensors")
    arrays = load_file(tmp_path / "n.safetensors")
    arrays["weights.layers.0.weight"].flat[0] += 1
    save_file(arrays, tmp_path / "n.safetensors")
    with pytest.raises(FormatError, match="was changed after it was written"):
        load_network(tmp_path / "n.safetensors")


def _facts(arrays, **changes):
    content = json.loads(arrays["facts"].tobytes()) | changes
    return np.frombuffer(json.dumps(content).encode(), np.uint8)


def test_calibration_of_a_known_case() -> None:
    shares = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    assert calibration_error(np.array([0, 1, 0, 1]), shares) == pytest.approx((0.8 + 0.4 + 0.2) / 4)


def test_predictions_are_written_with_strange_names(network: TrainedNetwork, tmp_path: Path) -> None:
    network.predict(["customer, 7"]).to_csv(tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open(newline="") as file:
        header, row = csv.reader(file)
    assert header[:2] == ["node", "label"] and row[0] == "customer, 7"
    assert sum(map(float, row[2:])) == pytest.approx(1, abs=1e-4)
