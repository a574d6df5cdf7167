"""BERT once more and slowly: one token, one head and one key at a time, from the names that its file has, without attnlib."""

import math

import numpy as np


def bert(arrays, config, ids, visible, instead=()):
    """Run the tokens `ids`, of which the places in `visible` may be looked at.

    `instead` has what stands in for a head, by (layer, head): a list of v numbers. Returns three arrays: the states
    (layers + 1, n, m), the weights (layers, h, n, n), and the heads' outputs (layers, h, n, v) before any is replaced.
    """
    arrays = {name: array.astype(np.float64) for name, array in arrays.items()}
    heads, epsilon, n = config["num_attention_heads"], config["layer_norm_eps"], len(ids)

    def linear(name, row):
        return [math.fsum(w * x for w, x in zip(of_out, row, strict=True)) + b for of_out, b in zip(arrays[f"{name}.weight"], arrays[f"{name}.bias"], strict=True)]

    def norm(name, row):
        mean = math.fsum(row) / len(row)
        deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in row) / len(row) + epsilon)
        return [g * (x - mean) / deviation + b for x, g, b in zip(row, arrays[f"{name}.LayerNorm.weight"], arrays[f"{name}.LayerNorm.bias"], strict=True)]

    tables = [arrays[f"embeddings.{which}_embeddings.weight"] for which in ("word", "position", "token_type")]
    x = [norm("embeddings", tables[0][i] + tables[1][place] + tables[2][0]) for place, i in enumerate(ids)]
    states, all_weights, all_outputs = [x], [], []
    for layer in range(config["num_hidden_layers"]):
        start = f"encoder.layer.{layer}"
        query, key, value = ([linear(f"{start}.attention.self.{which}", row) for row in x] for which in ("query", "key", "value"))
        width = len(query[0]) // heads
        merged = [[] for _ in range(n)]
        for head in range(heads):
            part = slice(head * width, (head + 1) * width)
            weights = np.zeros((n, n))
            for i in range(n):
                scores = {j: math.fsum(a * b for a, b in zip(query[i][part], key[j][part], strict=True)) / math.sqrt(width) for j in visible}
                largest = max(scores.values())
                total = math.fsum(math.exp(score - largest) for score in scores.values())
                for j, score in scores.items():
                    weights[i, j] = math.exp(score - largest) / total
            outputs = [[math.fsum(weights[i, j] * value[j][f] for j in range(n)) for f in range(part.start, part.stop)] for i in range(n)]
            all_weights.append(weights)
            all_outputs.append(outputs)
            for i in range(n):
                merged[i] += list(instead[layer, head]) if (layer, head) in instead else outputs[i]
        for i in range(n):
            row = norm(f"{start}.attention.output", [a + b for a, b in zip(x[i], linear(f"{start}.attention.output.dense", merged[i]), strict=True)])
            hidden = [each * 0.5 * (1 + math.erf(each / math.sqrt(2))) for each in linear(f"{start}.intermediate.dense", row)]
            merged[i] = norm(f"{start}.output", [a + b for a, b in zip(row, linear(f"{start}.output.dense", hidden), strict=True)])
        x = merged
        states.append(x)
    by_head = (config["num_hidden_layers"], heads, n, -1)
    return np.array(states), np.array(all_weights).reshape(by_head), np.array(all_outputs).reshape(by_head)
