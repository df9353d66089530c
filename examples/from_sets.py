"""A list of sets in, a dictionary of classes out: people who were at the same meetings."""

import random

import hypercondense as hc

# Made up here: people with two numbers each, and meetings; of half of them the party is known.
random.seed(0)
party = {f"person {number}": random.choice(["left", "right"]) for number in range(300)}
sides = {side: [name for name in party if party[name] == side] for side in ("left", "right")}
meetings = [set(random.sample(sides[random.choice(["left", "right"])], 4)) for _ in range(250)]
features = {name: [(party[name] == "left") + random.gauss(0, 1), random.random()] for name in party}
known = {name: party[name] for name in list(party)[:150]}

source = hc.from_hyperedges(meetings, features, known)
split = hc.split(source, seed=0)
result = hc.condense(source, split, ratio=0.03)
network = hc.train(result, source, split)
prediction = network.predict(source)
predicted = dict(zip(prediction.nodes, prediction.labels, strict=True))

unknown = [name for name in party if name not in known]
right = sum(predicted[name] == party[name] for name in unknown) / len(unknown)
print(f"{result.hypergraph.num_nodes} nodes instead of {source.num_nodes}")
print(f"the first began as {', '.join(result.members_by_name()[0][:3])} ...")
print(f"{right:.1%} of {len(unknown)} people whose party was not known are right")
