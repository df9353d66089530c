"""Training, tasks, metrics and the protocol."""

import json
import math

import numpy as np
import pytest
import torch

from hypercondense.catalogue import condense
from hypercondense.data.load import load
from hypercondense.errors import ConfigError
from hypercondense.evaluation import (
    TASKS,
    Score,
    Spread,
    across_condensations,
    across_models,
    evaluate,
)
from hypercondense.evaluation.metrics import accuracy, macro_f1, mean_average_precision, mutual_information
from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids
from hypercondense.nn import MODELS
from hypercondense.nn.training import Configuration, Inputs, train

SHORT = Configuration(model="hgnn", options={"hidden": 16}, epochs=20)


def clustered(*, num_nodes=90, num_classes=3, seed=0, noise=0.5, labels=None, misleading=False):
    """Classes with their own feature means; hyperedges of three nodes of one class, or of thirty of any."""
    rng = np.random.default_rng(seed)
    classes = np.arange(num_nodes) % num_classes
    features = rng.normal(0, noise, (num_nodes, 6)) + 2 * np.eye(num_classes, 6)[classes]
    size = 30 if misleading else 3
    members = [
        rng.choice(np.flatnonzero((classes == edge % num_classes) | misleading), size, replace=False)
        for edge in range(40)
    ]
    return Hypergraph(
        features=features,
        labels=classes if labels is None else labels,
        incidence=(np.concatenate(members), np.repeat(np.arange(40), size)),
        num_hyperedges=40,
        label_names=[f"class {label}" for label in range(num_classes)],
        notes=["made for a test"],
    )


def class_means(source, parts, classes=None):
    """One condensed node per class: the mean of its training nodes."""
    classes = np.unique(source.labels[parts.train_ids]) if classes is None else np.asarray(classes)
    ids = [parts.train_ids[source.labels[parts.train_ids] == label] for label in classes]
    features = np.stack([source.dense_features(members).mean(0) for members in ids])
    return Hypergraph(features=features, labels=classes, incidence=([], []), num_hyperedges=0)


@pytest.fixture(scope="module")
def source():
    return clustered()


@pytest.fixture(scope="module")
def parts(source):
    return split(source, seed=0)


@pytest.fixture(scope="module")
def condensed(source, parts):
    return class_means(source, parts)


def weights_of(trained):
    return torch.cat([value.flatten() for value in trained.model.state_dict().values()])


def trained_on(source, parts, train_graph=None, **options):
    source_inputs = Inputs.of(source)
    graph = source_inputs if train_graph is None else Inputs.of(train_graph)
    return train(SHORT, graph, source_inputs, parts, seed=3, **options)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_learns_easy_classes_from_their_means(model, source, parts, condensed):
    score = evaluate(condensed, source, parts, model=Configuration(model=model, epochs=60), runs=1)
    assert score.mean > 0.9


def test_test_labels_are_not_read_before_the_final_score(source, parts, condensed):
    shuffled = source.labels.copy()
    shuffled[parts.test_ids] = np.random.default_rng(0).permutation(shuffled[parts.test_ids])
    assert not np.array_equal(shuffled, source.labels)
    other = clustered(labels=shuffled)
    for graph in (None, condensed):
        one, two = trained_on(source, parts, graph), trained_on(other, parts, graph)
        assert torch.equal(weights_of(one), weights_of(two))
        assert (one.epoch, one.validation) == (two.epoch, two.validation)


def test_training_on_a_condensed_hypergraph_reads_no_training_label_of_the_source(source, parts, condensed):
    shuffled = source.labels.copy()
    shuffled[parts.train_ids] = np.random.default_rng(0).permutation(shuffled[parts.train_ids])
    one, two = trained_on(source, parts, condensed), trained_on(clustered(labels=shuffled), parts, condensed)
    assert torch.equal(weights_of(one), weights_of(two))


@pytest.mark.parametrize(("misleading", "expected"), [(True, 0), (False, 1)])
def test_validation_nodes_choose_the_form_of_a_network(misleading, expected):
    source = clustered(noise=1.0, misleading=misleading)  # only the first form remembers the node itself
    parts = split(source, seed=0)
    inputs, graph = Inputs.of(source), Inputs.of(class_means(source, parts))

    def trained(parts=parts, **options):
        return train(Configuration(model="edhnn", options=options, epochs=30), graph, inputs, parts, seed=0)

    forms = [trained(**form.options) for form in MODELS["edhnn"].forms]
    assert torch.equal(weights_of(trained()), weights_of(forms[expected]))
    assert trained().configuration.options == MODELS["edhnn"].forms[expected].options
    assert forms[expected].validation > forms[1 - expected].validation
    assert torch.equal(weights_of(trained(inner_maps=True)), weights_of(forms[0]))  # asked for: not chosen
    # A width says nothing about the form.
    narrow = [trained(**{**form.options, "hidden": 7}) for form in MODELS["edhnn"].forms]
    assert trained(hidden=7).validation == max(one.validation for one in narrow)
    assert trained(hidden=7).configuration.options["hidden"] == 7
    assert trained(_without_validation(parts)).model.residual == forms[0].model.residual


def test_a_training_that_diverges_is_right_about_nothing(source, parts, condensed):
    configuration = Configuration(model="hgnn", learning_rate=1e30, epochs=10)
    score = evaluate(condensed, source, parts, model=configuration, runs=1)
    assert score.validation == (0.0,) and score.mean == score.macro_f1 == 0.0
    # What was learnt before it diverged is kept.
    trained = train(configuration, Inputs.of(condensed), Inputs.of(source), parts, seed=0, validate_every=1)
    assert trained.epoch == 1


def test_a_recipe_is_completed_by_the_form_it_agrees_with():
    first, second = Configuration(model="edhnn").in_each_form()
    assert (first.learning_rate, first.weight_decay, first.options["inner_maps"]) == (0.001, 0.0, True)
    assert (second.learning_rate, second.weight_decay, second.options["inner_maps"]) == (0.01, 5e-4, False)
    assert Configuration(model="edhnn", options={"inner_maps": False}).in_each_form() == [second]
    assert Configuration(model="edhnn", options={"residual": 0.5}).in_each_form() == [first]
    # What only one form names decides nothing, and what is asked for is done in every form.
    asked = Configuration(
        model="edhnn", options={"input_dropout": 0.3}, learning_rate=0.05, epochs=7
    ).in_each_form()
    assert [(one.options["input_dropout"], one.learning_rate, one.epochs) for one in asked] == [
        (0.3, 0.05, 7)
    ] * 2
    assert [one.weight_decay for one in asked] == [0.0, 5e-4]
    # No form has such a residual: then nothing but the defaults of the network is added.
    (own,) = Configuration(model="edhnn", options={"residual": 0.3}).in_each_form()
    assert own.options == {"residual": 0.3} and own.learning_rate == 0.001


@pytest.mark.parametrize(
    ("model", "deciding", "other"),
    [
        ("unigcnii", {"residual": 0.03}, {"hidden": 9, "dropout": 0.3}),
        ("allset", {"input_dropout": 0.0}, {"hidden": 8}),
    ],
)
def test_options_of_the_other_networks_with_two_forms(model, deciding, other):
    first, second = Configuration(model=model).in_each_form()
    assert Configuration(model=model, options=deciding).in_each_form() == [second] != [first]
    both = Configuration(model=model, options=other).in_each_form()
    assert [one.options for one in both] == [{**form.options, **other} for form in MODELS[model].forms]


def test_of_forms_that_are_equally_often_right_the_surer_one_is_kept(source, parts, condensed):
    inputs, graph = Inputs.of(source), Inputs.of(condensed)

    def trained(**options):
        return train(Configuration(model="edhnn", options=options, epochs=60), graph, inputs, parts, seed=0)

    first, second = (trained(**form.options) for form in MODELS["edhnn"].forms)
    assert first.validation == second.validation == 1.0
    assert trained().loss == min(first.loss, second.loss) == second.loss


def test_progress_over_forms_only_goes_forwards(source, parts, condensed):
    seen = []

    def note(stage, done, total, /, **figures):
        seen.append((done, total))

    train(
        Configuration(model="edhnn", epochs=20),
        Inputs.of(condensed),
        Inputs.of(source),
        parts,
        seed=0,
        progress=note,
    )
    assert seen == [(epoch, 40) for epoch in range(5, 41, 5)]


def test_scores_say_which_form_each_network_had(source, parts, condensed):
    score = evaluate(condensed, source, parts, model=Configuration(model="edhnn", epochs=10), runs=2)
    assert all(options in [form.options for form in MODELS["edhnn"].forms] for options in score.options)
    assert score.to_dict()["options"] == tuple(score.options) and len(score.options) == 2


def test_validation_labels_choose_the_epoch(source, parts, condensed):
    seen = []

    def note(stage, done, total, /, **figures):
        seen.append((done, total, figures["validation"]))

    trained = trained_on(source, parts, condensed, progress=note)
    assert [done for done, _, _ in seen] == [5, 10, 15, 20]
    assert trained.epoch in (5, 10, 15, 20)
    assert trained.validation == max(value for _, _, value in seen)


def test_the_chosen_weights_are_those_of_the_chosen_epoch():
    source = clustered(noise=6.0)
    parts = split(source, seed=0)
    chosen = trained_on(source, parts)
    assert chosen.epoch < 20  # otherwise this test says nothing
    stopped = trained_on_itself(source, parts, epochs=chosen.epoch)
    assert torch.equal(weights_of(chosen), weights_of(stopped))
    assert stopped.epoch == chosen.epoch


def trained_on_itself(source, parts, *, epochs):
    inputs = Inputs.of(source)
    configuration = Configuration(model="hgnn", options={"hidden": 16}, epochs=epochs)
    return train(configuration, inputs, inputs, _without_validation(parts), seed=3)


def _without_validation(parts):
    return Split(parts.train_ids, parts.validation_ids[:0], parts.test_ids)


def test_unlabelled_condensed_nodes_are_not_learned_from(source, parts, condensed):
    ghost = Hypergraph(
        features=np.vstack([condensed.features, np.zeros((1, 6))]),
        labels=[*condensed.labels, -1],
        incidence=([], []),
        num_hyperedges=0,
    )
    one, two = trained_on(source, parts, condensed), trained_on(source, parts, ghost)
    assert one.validation == pytest.approx(two.validation, abs=0.2)


def test_run_k_is_the_same_alone_and_among_others(source, parts, condensed):
    few = evaluate(condensed, source, parts, model=SHORT, runs=2, seed=5)
    many = evaluate(condensed, source, parts, model=SHORT, runs=3, seed=5)
    assert few.values == many.values[:2]
    assert few.epochs == many.epochs[:2]


@pytest.mark.slow
def test_the_score_does_not_depend_on_the_number_of_workers(source, parts, condensed):
    scores = [
        evaluate(condensed, source, parts, model=SHORT, runs=1, whole=True, workers=workers)
        for workers in (1, 2)
    ]
    times = dict.fromkeys(("seconds", "train_seconds", "whole_seconds"), 0)
    one, two = ({**score.to_dict(), **times} for score in scores)
    assert one == two


def test_evaluating_leaves_the_global_generator_and_threads_alone(source, parts, condensed):
    torch.manual_seed(7)
    expected, threads = torch.rand(1), torch.get_num_threads()
    torch.manual_seed(7)
    evaluate(condensed, source, parts, model=SHORT, runs=1)
    assert torch.equal(torch.rand(1), expected)
    assert torch.get_num_threads() == threads


def test_whole_and_retention_are_measured_in_the_same_call(source, parts, condensed):
    score = evaluate(condensed, source, parts, model=SHORT, runs=2, whole=True)
    alone = evaluate(source, source, parts, model=SHORT, runs=2)
    assert score.whole == Spread(alone.mean, alone.std)
    assert score.retention == score.mean / alone.mean
    assert evaluate(source, source, parts, model=SHORT, runs=1, whole=True).retention == 1.0


@pytest.mark.parametrize(
    ("task", "metric"), [("classify", "accuracy"), ("cluster", "nmi"), ("retrieve", "map")]
)
def test_every_task_gives_its_metric_between_0_and_1(task, metric, source, parts, condensed):
    score = evaluate(condensed, source, parts, model=SHORT, task=task, runs=2)
    assert (score.task, score.metric) == (task, metric)
    assert 0.5 < score.mean <= 1
    assert (score.macro_f1 is None) == (task != "classify")
    assert json.loads(json.dumps(score.to_dict(), allow_nan=False))["runs"] == 2


def test_the_registered_tasks_are_those_of_the_contract():
    assert list(TASKS) == ["classify", "cluster", "retrieve"]


def test_progress_is_told_after_every_training(source, parts, condensed):
    told = []
    evaluate(
        condensed,
        source,
        parts,
        model=SHORT,
        runs=2,
        whole=True,
        progress=lambda stage, done, total, /, **figures: told.append((stage, done, total, figures["run"])),
    )
    for stage in ("hgnn on condensed nodes", "hgnn on the whole"):  # network and run are named
        assert [entry[1:] for entry in told if entry[0] == stage and entry[1] % 100 == 0] == [
            *[(100, 200, 1)] * 2,
            *[(200, 200, 2)] * 2,
        ]


def test_a_class_that_was_not_condensed_is_reported(source, parts):
    score = evaluate(class_means(source, parts, classes=[0, 1]), source, parts, model=SHORT, runs=1)
    assert score.missing_classes == (2,)
    assert score.mean < 0.8


def test_without_validation_nodes_the_last_epoch_is_used_and_said(source, parts, condensed):
    score = evaluate(condensed, source, _without_validation(parts), model=SHORT, runs=1)
    assert score.epochs == (20,)
    assert math.isnan(score.validation[0])
    assert score.notes[0] == "made for a test"
    assert "no validation nodes" in score.notes[1]
    assert score.to_dict()["validation"] == [None]


def test_a_source_with_other_features_is_refused(source, parts, condensed):
    narrow = Hypergraph(
        features=condensed.features[:, :4], labels=condensed.labels, incidence=([], []), num_hyperedges=0
    )
    with pytest.raises(ValueError, match="source has 6 features but the condensed hypergraph has 4"):
        evaluate(narrow, source, parts)
    with pytest.raises(ValueError, match=r"source has 6 features but .* has 4"):
        trained_on(source, parts, narrow)


def test_a_condensed_class_unknown_to_the_source_is_refused(source, parts):
    strange = Hypergraph(features=np.eye(4, 6), labels=[0, 1, 2, 3], incidence=([], []), num_hyperedges=0)
    with pytest.raises(ValueError, match="class 3 but the source has only 3 classes"):
        evaluate(strange, source, parts)


def test_a_source_without_the_labels_of_its_split_is_refused(source, parts, condensed):
    labels = source.labels.copy()
    labels[parts.test_ids[0]] = -1
    with pytest.raises(ValueError, match=f"1 test nodes .* first is node {parts.test_ids[0]}"):
        evaluate(condensed, clustered(labels=labels), parts)


def test_a_split_of_another_source_is_refused(source, parts, condensed):
    smaller = clustered(num_nodes=60)
    with pytest.raises(ValueError, match="use a split of this source"):
        evaluate(condensed, smaller, parts)


def test_a_split_without_test_nodes_is_refused(source, condensed):
    no_test = split_from_ids(source, train_ids=[0, 1, 2], validation_ids=[3], test_ids=[])
    with pytest.raises(ValueError, match="no test nodes"):
        evaluate(condensed, source, no_test)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"model": "gcn"}, "unknown model 'gcn'; there are hgnn"),
        ({"task": "rank"}, "unknown task 'rank'; there are classify"),
        ({"runs": 0}, "runs must be at least 1"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"model": Configuration(epochs=0)}, "epochs must be at least 1"),
    ],
)
def test_impossible_options_are_refused_before_training(options, problem, source, parts, condensed):
    with pytest.raises((ValueError, ConfigError), match=problem):
        evaluate(condensed, source, parts, **options)


def test_average_and_spread_across_models_and_condensations(source, parts, condensed):
    one = evaluate(condensed, source, parts, model=SHORT, runs=1)
    scores = [Score(**{**vars(one), "mean": mean, "values": (mean, mean)}) for mean in (0.5, 0.7)]
    assert across_models(scores) == Spread.of([0.5, 0.7])
    assert across_condensations(scores) == Spread.of([0.5, 0.5, 0.7, 0.7])
    for average in (across_models, across_condensations):
        with pytest.raises(ValueError, match="no scores"):
            average([])


def test_accuracy_and_macro_f1_of_a_known_case():
    labels, predicted = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 0])
    assert accuracy(labels, predicted) == 0.6
    assert macro_f1(labels, predicted) == pytest.approx((0.5 + 0.8 + 0.0) / 3)


def test_mutual_information_ignores_the_names_of_clusters():
    labels = np.array([0, 0, 1, 1, 2])
    assert mutual_information(labels, np.array([5, 5, 0, 0, 1])) == pytest.approx(1)
    assert mutual_information(labels, np.zeros(5, int)) == 0


def brute_force_map(embeddings, labels):
    """Average precision one query and one rank at a time."""
    averages = []
    for query in range(len(labels)):
        others = [node for node in range(len(labels)) if node != query]
        cosines = torch.nn.functional.cosine_similarity(embeddings[query][None], embeddings[others])
        ranked = [others[place] for place in (-cosines).argsort(stable=True)]
        hits, precisions = 0, []
        for rank, node in enumerate(ranked, start=1):
            if labels[node] == labels[query]:
                hits += 1
                precisions.append(hits / rank)
        if precisions:
            averages.append(sum(precisions) / len(precisions))
    return sum(averages) / len(averages)


@pytest.mark.parametrize("block", [1, 7, None])
def test_mean_average_precision_equals_brute_force_in_any_block(block):
    embeddings = torch.randn(25, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    labels = np.arange(25) % 4
    labels[0] = 9  # a class of one node: nothing to find
    ours = mean_average_precision(embeddings, labels, block=block)
    assert ours == pytest.approx(brute_force_map(embeddings, labels))


def many_ties():
    """Sixty nodes in five directions: exact numbers, so similarities are exactly equal."""
    directions = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, 0, 0]], dtype=torch.float64)
    return directions[torch.randint(5, (60,), generator=torch.Generator().manual_seed(2))]


@pytest.mark.parametrize(
    "embeddings",
    [torch.randn(20, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1)), many_ties()],
    ids=["distinct", "ties"],
)
def test_mean_average_precision_agrees_with_scikit_learn(embeddings):
    from sklearn.metrics import average_precision_score

    labels, unit = np.arange(len(embeddings)) % 3, torch.nn.functional.normalize(embeddings).numpy()
    expected = [
        average_precision_score(
            np.delete(labels == labels[query], query), np.delete(unit @ unit[query], query)
        )
        for query in range(len(labels))
    ]
    assert mean_average_precision(embeddings, labels) == pytest.approx(np.mean(expected))
    shuffled = np.random.default_rng(0).permutation(len(labels))
    assert mean_average_precision(embeddings[shuffled], labels[shuffled]) == pytest.approx(np.mean(expected))
    assert mean_average_precision(embeddings.bfloat16(), labels) == pytest.approx(np.mean(expected), abs=0.02)


def test_equal_rows_are_ties_whatever_the_block_and_the_precision():
    distinct = torch.randn(7, 5, generator=torch.Generator().manual_seed(3))
    embeddings = distinct[torch.arange(203) % 7]
    labels = np.arange(203) % 10
    exact = mean_average_precision(embeddings.double(), labels)
    for block in (1, 2, 50, None):
        assert mean_average_precision(embeddings, labels, block=block) == pytest.approx(exact, abs=1e-9)


def test_mean_average_precision_of_degenerate_embeddings_is_finite():
    assert mean_average_precision(torch.zeros(4, 2), np.array([0, 0, 1, 1])) > 0
    assert mean_average_precision(torch.ones(2, 2), np.array([0, 1])) == 0.0
    assert mean_average_precision(torch.ones(0, 2), np.array([], int)) == 0.0


def test_clustering_survives_embeddings_that_are_all_alike(source, parts):
    model = MODELS["mlp"](num_features=6, num_classes=3)
    for parameter in model.parameters():
        parameter.data.zero_()
    outcome = TASKS["cluster"].score(model.eval(), Inputs.of(source), parts.test_ids, 0)
    assert outcome.value == 0


@pytest.mark.data
@pytest.mark.slow
def test_whole_cora_reaches_the_published_accuracy_of_hgnn(shared_data):
    cora = load("cora", data_dir=shared_data)
    brief = Configuration(model="hgnn", epochs=40)  # the best epoch on cora is below 25
    scores = [evaluate(cora, cora, split(cora, seed=seed), model=brief, runs=1) for seed in range(3)]
    assert across_models(scores).mean > 0.794 - 0.01


@pytest.mark.parametrize("task", ["cluster", "retrieve"])
def test_all_labelled_nodes_can_be_asked_about_instead_of_test_nodes(task):
    noisy = clustered(noise=3.0)
    parts = split(noisy, seed=0)
    condensed = class_means(noisy, parts)
    over_test, over_all = (
        evaluate(condensed, noisy, parts, model=SHORT, task=task, over=over, runs=1)
        for over in ("test", "all")
    )
    assert over_test.mean != over_all.mean


def test_classification_is_never_scored_on_nodes_that_were_learned(source):
    parts = split(source, seed=0)
    with pytest.raises(ValueError, match="test nodes only"):
        evaluate(class_means(source, parts), source, parts, model=SHORT, over="all", runs=1)


def test_a_result_is_not_judged_with_another_split_or_source(source):
    parts = split(source, seed=0)
    result = condense(source, parts, nodes=6, method="random")
    assert evaluate(result, source, parts, model=SHORT, runs=1).mean > 0
    with pytest.raises(
        ConfigError, match="training nodes could be among the test nodes; use the same seed, 0"
    ):
        evaluate(result, source, split(source, seed=1), model=SHORT, runs=1)
    with pytest.raises(ConfigError, match="not the hypergraph it was condensed from"):
        evaluate(result, clustered(seed=5), parts, model=SHORT, runs=1)


def test_a_cluster_gives_the_same_scores(source, parts, ray):
    """A real Ray on this machine: the bits are those of one process."""
    here = evaluate(source, source, parts, model="mlp", runs=2)
    there = evaluate(source, source, parts, model="mlp", runs=2, engine=ray)
    assert (there.values, there.validation, there.epochs) == (here.values, here.validation, here.epochs)
