"""A hypergraph of XGI in, attributes of its nodes out."""

import random

import xgi

import hypercondense as hc

# Made up here: species with two traits that share habitats; of half of them the diet is known.
random.seed(0)
diets = {f"species {number}": random.choice(["plants", "insects", "fish"]) for number in range(300)}
groups = {diet: [name for name in diets if diets[name] == diet] for diet in ("plants", "insects", "fish")}
size = {"plants": 3.0, "insects": 1.0, "fish": 2.0}
H = xgi.Hypergraph()
for number, (name, diet) in enumerate(diets.items()):
    H.add_node(name, size=random.gauss(size[diet], 0.7), night=random.random())
    if number < 150:
        H.nodes[name]["label"] = diet
H.add_edges_from([random.sample(groups[random.choice(list(groups))], 4) for _ in range(250)])

source = hc.from_xgi(H)
split = hc.split(source, seed=0)
result = hc.condense(source, split, ratio=0.03)
network = hc.train(result, source, split)
prediction = network.predict(source)
H.set_node_attributes(dict(zip(prediction.nodes, prediction.labels, strict=True)), name="predicted")

unknown = [name for name in H.nodes if "label" not in H.nodes[name]]
right = sum(H.nodes[name]["predicted"] == diets[name] for name in unknown) / len(unknown)
print(
    f"{result.hypergraph.num_nodes} nodes instead of {H.num_nodes}, {right:.1%} of {len(unknown)} diets right"
)
