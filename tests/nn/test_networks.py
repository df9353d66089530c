"""The contract every registered model keeps, and its formula in float64 with dense matrices."""

import inspect
from hashlib import sha256

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph
from hypercondense.nn import MODELS, Receivers, Structure, build, input_features, model_class
from hypercondense.nn.allset import attend
from hypercondense.nn.cutout import cut_out
from hypercondense.runtime.rng import seeded
from makers.model_cases import (
    degree_normalized,
    dense_structure,
    inverse,
    random_rows,
    row_normalized,
    small_hypergraph,
    symmetric,
)

VARIANTS = [
    *((name, dict(form.options)) for name, model in MODELS.items() for form in model.forms),
    ("hcha", {"attention": True}),
    ("allset", {"attention": False}),
]
AWARE = [(name, options) for name, options in VARIANTS if name != "mlp"]

over_variants = pytest.mark.parametrize(("name", "options"), VARIANTS)
over_aware = pytest.mark.parametrize(("name", "options"), AWARE)


def made(name, options, *, num_features=5, dtype=torch.float64):
    with seeded(0):
        model = build(name, num_features=num_features, num_classes=3, **options)
    return model.to(dtype).eval()


def scored(model, hypergraph):
    features = input_features(hypergraph, dtype=torch.float64)
    return model(features, Structure.of(hypergraph, dtype=torch.float64)).detach()


def permuted(hypergraph, order):
    """The same hypergraph with node ``order[i]`` as node ``i``."""
    place = np.argsort(order)
    node_ids, hyperedge_ids, weights = hypergraph.incidence
    return Hypergraph(
        features=hypergraph.features[order],
        labels=hypergraph.labels[order],
        incidence=(place[node_ids], hyperedge_ids, weights),
        num_hyperedges=hypergraph.num_hyperedges,
    )


def reweighted(hypergraph, weights):
    node_ids, hyperedge_ids, _ = hypergraph.incidence
    return Hypergraph(
        features=hypergraph.features,
        labels=hypergraph.labels,
        incidence=(node_ids, hyperedge_ids, weights),
        num_hyperedges=hypergraph.num_hyperedges,
    )


def test_the_registered_models_are_those_of_the_contract():
    assert list(MODELS) == ["hgnn", "hcha", "unigcnii", "allset", "edhnn", "mlp"]


def test_an_unknown_model_is_refused_with_the_names_that_exist():
    with pytest.raises(ConfigError, match="unknown model 'gcn'; there are hgnn, hcha"):
        model_class("gcn")


def test_an_unknown_option_is_refused():
    with pytest.raises(ConfigError, match="does not take"):
        build("hgnn", num_features=2, num_classes=2, depth=3)


@over_variants
def test_shapes_are_nodes_by_classes_and_nodes_by_hidden(name, options):
    model, hypergraph = made(name, {**options, "hidden": 12}, dtype=torch.float32), small_hypergraph()
    structure, features = Structure.of(hypergraph), input_features(hypergraph)
    assert model(features, structure).shape == (8, 3)
    assert model.embed(features, structure).shape == (8, 12)


@over_variants
def test_impossible_sizes_are_refused(name, options):
    for wrong in ({"hidden": 0}, {"layers": 0}, {"dropout": 1.0}):
        with pytest.raises(ValueError, match="must be"):
            made(name, {**options, **wrong})


@over_variants
def test_equal_seeds_give_equal_bits_in_training_too(name, options):
    hypergraph = small_hypergraph(weighted=True)
    structure, features = Structure.of(hypergraph), input_features(hypergraph)

    def gradients():
        with seeded(3):
            model = build(name, num_features=5, num_classes=3, **options).train()
            model(features, structure).square().sum().backward()
        return [parameter.grad for parameter in model.parameters()]

    for one, other in zip(gradients(), gradients(), strict=True):
        assert torch.equal(one, other)


@over_variants
def test_the_input_is_not_changed(name, options):
    hypergraph = small_hypergraph(weighted=True)
    structure, features = Structure.of(hypergraph), input_features(hypergraph)
    before, matrix = features.clone(), structure.matrix.copy()
    model = made(name, options, dtype=torch.float32).train()
    model(features, structure).sum().backward()
    assert torch.equal(features, before)
    assert (structure.matrix != matrix).nnz == 0


@over_variants
def test_nodes_in_another_order_give_the_same_scores_in_that_order(name, options):
    hypergraph, order = small_hypergraph(weighted=True), np.random.default_rng(1).permutation(8)
    model = made(name, options)
    torch.testing.assert_close(scored(model, permuted(hypergraph, order)), scored(model, hypergraph)[order])


@over_variants
def test_sparse_and_dense_features_give_the_same_scores_and_gradients(name, options):
    sparse = small_hypergraph(sparse=True, num_features=40)
    structure, results = Structure.of(sparse, dtype=torch.float64), []
    dense = torch.as_tensor(sparse.dense_features().copy(), dtype=torch.float64)
    for features in (dense, input_features(sparse, dtype=torch.float64)):
        model = made(name, options, num_features=40)
        scores = model(features, structure)
        scores.square().sum().backward()
        results.append([scores.detach(), *(parameter.grad for parameter in model.parameters())])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


@over_variants
def test_isolated_nodes_and_empty_hyperedges_are_finite_with_their_gradients(name, options):
    structure, _ = dense_structure()
    x = random_rows(8, 5).requires_grad_()
    model = made(name, options)
    scores = model(x, structure)
    scores.square().sum().backward()
    assert torch.isfinite(scores).all()
    assert torch.isfinite(x.grad).all()
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())


@over_variants
def test_a_hypergraph_without_hyperedges_is_scored(name, options):
    bare = Hypergraph(features=np.eye(3, 5), labels=[0, 1, 2], incidence=([], []), num_hyperedges=0)
    assert torch.isfinite(scored(made(name, options), bare)).all()
    without_loops = Structure.of(bare, self_loops=False, dtype=torch.float64)
    features = input_features(bare, dtype=torch.float64)
    assert torch.isfinite(made(name, options)(features, without_loops)).all()


@over_aware
def test_structure_and_its_weights_matter(name, options):
    hypergraph, model = small_hypergraph(), made(name, options)
    heavier = reweighted(hypergraph, [5, 1, 1, 1, 1, 1, 1, 1])
    assert not torch.allclose(scored(model, hypergraph), scored(model, heavier))


@over_aware
def test_weights_of_one_are_the_same_as_no_weights(name, options):
    hypergraph, model = small_hypergraph(), made(name, options)
    torch.testing.assert_close(scored(model, hypergraph), scored(model, reweighted(hypergraph, np.ones(8))))


@over_aware
def test_weights_all_doubled_change_nothing(name, options):
    incidence = dense_structure()[1].numpy()
    model, x = made(name, options), random_rows(8, 5)
    once, twice = (model(x, Structure.from_dense(factor * incidence)) for factor in (1, 2))
    torch.testing.assert_close(once, twice)


def test_mlp_does_not_see_the_structure():
    hypergraph, model = small_hypergraph(), made("mlp", {})
    bare = Hypergraph(
        features=hypergraph.features, labels=hypergraph.labels, incidence=([], []), num_hyperedges=0
    )
    assert torch.equal(scored(model, hypergraph), scored(model, bare))


@pytest.mark.parametrize(("name", "dense"), [("hgnn", symmetric), ("hcha", row_normalized)])
@pytest.mark.parametrize(("num_features", "layers"), [(5, 2), (400, 3)])
def test_convolutions_equal_their_formula(name, dense, num_features, layers):
    structure, incidence = dense_structure()
    propagation, x = dense(incidence), random_rows(8, num_features)
    model = made(name, {"layers": layers}, num_features=num_features)
    network = model if name == "hgnn" else model.network
    expected = x
    for number, layer in enumerate(network.layers, start=1):
        if number == layers:
            torch.testing.assert_close(model.embed(x, structure), propagation @ expected)
        expected = propagation @ expected @ layer.weight.T + layer.bias
        expected = expected.relu() if number < layers else expected
    torch.testing.assert_close(model(x, structure), expected)


def test_hcha_attention_equals_its_formula():
    structure, incidence = dense_structure()
    model, x = made("hcha", {"attention": True}), random_rows(8, 5)
    network, expected = model.network, x
    for number, (layer, attention) in enumerate(zip(network.layers, network.attentions, strict=True)):
        y = expected @ layer.weight.T
        of_hyperedge = (
            inverse(incidence.sum(0))[:, None] * (incidence.T @ y)
        ) @ attention.of_hyperedge.weight.T
        scores = torch.nn.functional.leaky_relu(y @ attention.of_node.weight.T + of_hyperedge.T, 0.2)
        terms = incidence * scores.exp()
        shares = inverse(terms.sum(1))[:, None] * terms
        expected = shares @ (inverse(shares.sum(0))[:, None] * (shares.T @ y)) + layer.bias
        expected = expected.relu() if number == 0 else expected
    torch.testing.assert_close(model(x, structure), expected)


@over_variants
@pytest.mark.parametrize("extra", [0, 1, 2])
@pytest.mark.parametrize("ids", [[5], [6, 0, 3, 0], list(range(8)), []])
def test_answers_for_some_nodes_are_those_for_all_with_their_gradients(name, options, extra, ids):
    hypergraph = small_hypergraph(num_features=5)
    hypergraph = reweighted(hypergraph, np.linspace(0.5, 2.0, hypergraph.num_incidences))
    fewest = 1 if name in {"allset", "edhnn", "unigcnii"} else 2
    model, node_ids = made(name, options | {"layers": fewest + extra}), torch.tensor(ids, dtype=torch.long)
    structure = Structure.of(hypergraph, dtype=torch.float64)
    receivers = Receivers(structure, node_ids)
    features = torch.tensor(hypergraph.dense_features(), dtype=torch.float64)
    answers, gradients = [], []
    for asked in (None, receivers):
        x = features.clone().requires_grad_()
        rows = [
            part if asked else part[node_ids]
            for part in (model(x, structure, asked), model.embed(x, structure, asked))
        ]
        total = sum(part.square().sum() for part in rows)
        wanted = (x, *model.parameters())
        gradients.append(torch.autograd.grad(total, wanted, allow_unused=True, materialize_grads=True))
        answers.append(rows)
    torch.testing.assert_close(answers[1], answers[0])
    torch.testing.assert_close(gradients[1], gradients[0])


@over_variants
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("ids", [[5], [0, 3, 6], list(range(40)), []])
def test_a_cut_out_gives_the_answers_of_the_whole(name, options, sparse, ids):
    hypergraph = chain(40, sparse=sparse)
    structure, node_ids = Structure.of(hypergraph, dtype=torch.float64), torch.tensor(ids, dtype=torch.long)
    features = input_features(hypergraph, dtype=torch.float64)
    model = made(name, options | {"layers": 2 if name != "hcha" else 3})
    seen = cut_out(features, structure, node_ids, reach=model.reach)
    torch.testing.assert_close(seen(model), model(features, structure)[node_ids])
    if ids == [5] and model.reach is not None:
        assert seen.features.shape[0] < 40 / 2  # and nothing else was looked at


def chain(num_nodes, *, sparse):
    """Weighted hyperedges of three nodes in a row and no others: few nodes can be seen in a few steps."""
    node_ids = np.stack([np.arange(k, num_nodes - 2 + k) for k in range(3)], axis=1).ravel()
    features = np.random.default_rng(0).standard_normal((num_nodes, 5)).astype(np.float32)
    features = sp.csr_array(np.where(np.arange(5) == np.arange(num_nodes)[:, None] % 5, features, 0))
    return Hypergraph(
        features=features if sparse else features.toarray(),
        labels=np.arange(num_nodes) % 3,
        incidence=(
            node_ids,
            np.repeat(np.arange(num_nodes - 2), 3),
            np.linspace(0.5, 2.0, len(node_ids)).astype(np.float32),
        ),
        num_hyperedges=num_nodes - 2,
    )


def test_receivers_of_another_layer_must_be_the_nodes_of_the_part():
    structure = Structure.of(chain(8, sparse=False))
    before = Receivers(structure, torch.tensor([1, 2]))
    with pytest.raises(ValueError, match="answers for 2 nodes, not for 8"):
        Receivers(structure, torch.tensor([0]), before=before)


def test_what_is_kept_of_constant_features_is_made_again_for_others():
    hypergraph = chain(8, sparse=False)
    structure, model = Structure.of(hypergraph, dtype=torch.float64), made("hgnn", {})
    features = torch.tensor(hypergraph.dense_features(), dtype=torch.float64)
    first = model(features, structure)
    torch.testing.assert_close(model(features.clone(), structure), first)
    other = model(features + 1, structure)
    features += 1  # changed where it lies
    torch.testing.assert_close(model(features, structure), other)
    assert not torch.equal(first, other)


def test_receivers_do_not_follow_a_tensor_that_is_used_again():
    hypergraph = small_hypergraph(num_features=5)
    structure, model = Structure.of(hypergraph, dtype=torch.float64), made("hgnn", {})
    features, ids = input_features(hypergraph, dtype=torch.float64), torch.tensor([1, 2])
    receivers = Receivers(structure, ids)
    ids.copy_(torch.tensor([4, 5]))
    torch.testing.assert_close(model(features, structure, receivers), model(features, structure)[[1, 2]])


@pytest.mark.parametrize(
    "ids", [torch.tensor([True, False]), torch.tensor([-1]), torch.tensor([8]), torch.tensor([[0]])]
)
def test_impossible_receivers_are_refused(ids):
    with pytest.raises(ValueError, match="node_ids must be"):
        Receivers(Structure.of(small_hypergraph(num_features=5)), ids)


#: When this digest changes, raise `defaults_version` of the network: lines made before are then not used.
DEFAULTS = {
    "hgnn": (1, "1c0c2005ae0a"),
    "hcha": (1, "b9e41fe0a6cc"),
    "unigcnii": (3, "45fa17e5a8d4"),
    "allset": (3, "31d2ccaf083b"),
    "edhnn": (4, "952602851364"),
    "mlp": (1, "1c0c2005ae0a"),
}


@pytest.mark.parametrize("name", MODELS)
def test_other_defaults_have_another_version(name):
    model = MODELS[name]
    options = {
        option.name: option.default
        for option in inspect.signature(model).parameters.values()
        if option.default is not option.empty
    }
    forms = tuple(form if form.optimization else dict(form.options) for form in model.forms)
    text = repr((sorted(options.items()), model.optimization, forms))
    assert (model.defaults_version, sha256(text.encode()).hexdigest()[:12]) == DEFAULTS[name]


def test_unigcnii_equals_its_formula():
    structure, incidence = dense_structure()
    model, x = made("unigcnii", {"layers": 3}), random_rows(8, 5)
    start = (x @ model.first.weight.T + model.first.bias).relu()
    hidden = start
    for number, layer in enumerate(model.layers, start=1):
        mixed = 0.9 * degree_normalized(incidence) @ hidden + 0.1 * start
        beta = np.log(0.5 / number + 1)
        hidden = ((1 - beta) * mixed + beta * mixed @ layer.weight.T).relu()
    torch.testing.assert_close(model(x, structure), model.classifier(hidden))


def pooled_by_attention(pool, x, incidence):
    """One set per column of ``incidence``."""
    scores = torch.nn.functional.leaky_relu(pool.scores(x), 0.2)
    values = pool.values(x).view(len(x), pool.heads, -1)
    heads = []
    for head in range(pool.heads):
        terms = incidence * scores[:, head].exp()[:, None]
        heads.append((terms * inverse(terms.sum(0))).T @ values[:, head])
    y = pool.first_norm(pool.seed + torch.cat(heads, dim=1))
    return pool.second_norm(y + pool.feedforward(y).relu())


def test_allset_transformer_equals_its_formula():
    structure, incidence = dense_structure()
    model, x = made("allset", {"hidden": 8, "heads": 2}), random_rows(8, 5)
    hyperedges = pooled_by_attention(model.pools[0], x, incidence).relu()
    nodes = pooled_by_attention(model.pools[1], hyperedges, incidence.T).relu()
    torch.testing.assert_close(model(x, structure), model.classifier(nodes))


def test_alldeepsets_equals_its_formula():
    structure, incidence = dense_structure()
    model, x = made("allset", {"attention": False}), random_rows(8, 5)
    to_hyperedges = inverse(incidence.sum(0))[:, None] * incidence.T
    to_nodes = inverse(incidence.sum(1))[:, None] * incidence
    first, second = model.pools
    hyperedges = first.after(first.norm(to_hyperedges @ first.before(x))).relu()
    nodes = second.after(second.norm(to_nodes @ second.before(hyperedges))).relu()
    torch.testing.assert_close(model(x, structure), model.classifier(nodes))


def test_attention_stays_finite_whatever_the_scores():
    structure, _ = dense_structure()
    scores = (1e4 * random_rows(8, 2)).requires_grad_()
    pooled = attend(random_rows(8, 6), scores, structure.incidence, transposed=True)
    pooled.sum().backward()
    assert torch.isfinite(pooled).all()
    assert torch.isfinite(scores.grad).all()


def test_attention_in_a_set_does_not_depend_on_scores_in_other_sets():
    structure = Structure.from_dense(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    scores = torch.tensor([[100.0], [0.0], [-3.0]], dtype=torch.float64)
    values = torch.tensor([[1.0], [10.0], [20.0]], dtype=torch.float64)
    expected = 10 + 10 / (1 + np.exp(3.0))  # the softmax of 0 and -3 over 10 and 20
    pooled = attend(values, scores, structure.incidence, transposed=True)
    torch.testing.assert_close(pooled, torch.tensor([[1.0], [expected]], dtype=torch.float64))


@pytest.mark.parametrize("spread", [1.0, 200.0])
@pytest.mark.parametrize("transposed", [True, False])
def test_attention_equals_the_dense_softmax_with_its_gradients(spread, transposed):
    structure, incidence = dense_structure()
    sets = incidence.T if transposed else incidence
    size = sets.shape[1]
    values, scores = random_rows(size, 6).requires_grad_(), random_rows(size, 2, seed=1)
    scores[:, 1] += torch.linspace(0, spread, size)
    scores.requires_grad_()

    def pooled(values, scores):
        return attend(values, scores, structure.incidence, transposed=transposed)

    heads = []
    for head in range(2):
        logits = (sets.clamp_min(1e-300).log() + scores[:, head]).masked_fill(sets == 0, -torch.inf)
        shares = logits.softmax(1).nan_to_num(0.0)  # a set without members
        heads.append(shares @ values[:, 3 * head : 3 * head + 3])
    torch.testing.assert_close(pooled(values, scores), torch.cat(heads, dim=1))
    assert torch.autograd.gradcheck(pooled, (values, scores))


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="multiple of heads"):
        made("allset", {"hidden": 10, "heads": 4})


def test_edhnn_equals_its_formula():
    structure, incidence = dense_structure()
    model, x = made("edhnn", {"layers": 2}), random_rows(8, 5)
    start = model.first(x).relu()
    hidden = start
    for _ in range(2):
        received = equivariant_diffusion(model.message, hidden, incidence)
        hidden = model.psi(0.5 * received + 0.5 * start)
    torch.testing.assert_close(model(x, structure), model.classifier(hidden))


def equivariant_diffusion(message, x, incidence):
    """The mean of rho over the memberships of each node, one pair at a time."""
    messages = inverse(incidence.sum(0))[:, None] * (incidence.T @ message.phi(message.norm(x)))
    received = torch.zeros_like(x)
    for node, hyperedge in incidence.nonzero().tolist():
        pair = message.rho_node(message.norm(x[node])) + message.rho_hyperedge(messages[hyperedge])
        received[node] += incidence[node, hyperedge] * pair.relu() / incidence[node].sum()
    return message.rho_out(received)


def test_edhnn_without_inner_maps_equals_its_formula():
    structure, incidence = dense_structure()
    model, x = made("edhnn", {"layers": 2, "inner_maps": False, "residual": 0.2}), random_rows(8, 5)
    start = model.first(x).relu()
    hidden = start
    for _ in range(2):
        means = inverse(incidence.sum(0))[:, None] * (incidence.T @ hidden)
        received = inverse(incidence.sum(1))[:, None] * (incidence @ means)
        hidden = model.psi[0](0.8 * received + 0.2 * start).relu()
    torch.testing.assert_close(model(x, structure), model.classifier(hidden))


@pytest.mark.parametrize("num_features", [5, 300])
def test_hcha_layer_equals_the_one_of_torch_geometric_with_its_gradients(num_features):
    geometric = pytest.importorskip("torch_geometric.nn")
    hypergraph = small_hypergraph(num_features=num_features)
    incidence, num_hyperedges = hypergraph.with_self_loops
    index = torch.as_tensor(np.stack([incidence.node_ids, incidence.hyperedge_ids]))
    theirs = geometric.HypergraphConv(num_features, 7).double()
    model = made("hcha", {"hidden": 7}, num_features=num_features)
    layer = model.network.layers[0]
    with torch.no_grad():
        layer.weight.copy_(theirs.lin.weight)
        layer.bias.copy_(theirs.bias.normal_())
    from hypercondense.nn.hgnn import convolve

    x = input_features(hypergraph, dtype=torch.float64).requires_grad_()
    ours = convolve(x, layer, Structure.of(hypergraph, dtype=torch.float64).row_normalized)
    expected = theirs(x, index, num_edges=num_hyperedges)
    torch.testing.assert_close(ours, expected)
    sent = random_rows(8, 7)
    for one, other in zip(
        torch.autograd.grad(ours, (x, layer.weight, layer.bias), sent),
        torch.autograd.grad(expected, (x, theirs.lin.weight, theirs.bias), sent),
        strict=True,
    ):
        torch.testing.assert_close(one, other)
