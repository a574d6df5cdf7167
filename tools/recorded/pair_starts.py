"""Train the model of chapter 5 from eight random starts at each of two rates, and write what they come to. Run by hand:

    python -m tools.recorded.pair_starts

It takes about twenty minutes and writes two files to chapters/data. pair_starts.json says what each start came to.
odd_pair.npz holds the model of start 1 at the smaller rate, which guesses right without the pair that the chapter builds.
The models compute in float32, whose last digits depend on the processor: another processor may find other numbers, and
another odd start.
"""

import json
from pathlib import Path

import numpy as np

from attnlib.attention import attention
from attnlib.training import Trained, save_trained
from tools.recorded.trained_models import learned_pair

DATA = Path(__file__).resolve().parents[2] / "chapters" / "data"
FILE, ODD = DATA / "pair_starts.json", DATA / "odd_pair.npz"
RATES = {0.01: 400, 0.003: 1200}  # and their steps
STARTS = range(8)
READERS = ("queries", "keys", "values", "the way past")


def head(params, layer, asks, found, given):
    """The output of one head, and its weights; what it reads may differ for queries, keys and values."""
    read = ((asks, "query"), (found, "key"), (given, "value"))
    out, weights = attention(*(x @ params[f"{layer}.{name}_weight"] for x, name in read), causal=True)
    return out @ params[f"{layer}.out_weight"], weights


def texts_of(seed, letters=10):
    """25 texts of different letters in random order, written twice."""
    once = np.random.default_rng(seed).permuted(np.tile(np.arange(20), (25, 1)), axis=1)[:, :letters]
    return np.hstack([once, once])


def measured(params, tokens, without=()):
    """Layer 1 on the token before, layer 2 after its own letter, right guesses; the output of layer 1 is hidden from some readers."""
    letters = tokens.shape[1] // 2
    x = params["tokens"][tokens] + params["positions"][: tokens.shape[1]]
    wrote, layer_1 = head(params, 0, x, x, x)
    asks, found, given, past = (x + wrote * (reader not in without) for reader in READERS)
    answer, layer_2 = head(params, 1, asks, found, given)
    right = ((past + answer) @ params["unembedding"]).argmax(axis=-1)[:, letters:-1] == tokens[:, letters + 1 :]
    return (
        np.diagonal(layer_1, -1, 1, 2)[:, : letters - 1].mean(),
        np.diagonal(layer_2, 1 - letters, 1, 2)[:, 1:].mean(),
        right.mean(),
    )


def summary(params):
    tokens = np.concatenate([texts_of(seed) for seed in range(8)])
    one_back, after_own, right = measured(params, tokens)
    found = dict(one_back=one_back, after_own=after_own, right=right)
    found |= {f"without {reader}": measured(params, tokens, (reader,))[2] for reader in READERS}
    return {name: round(float(number), 3) for name, number in found.items()}


def main():
    rows = []
    for rate, steps in RATES.items():
        for seed in STARTS:
            params = learned_pair(seed, rate, steps)
            if (rate, seed) == (0.003, 1):
                save_trained(ODD, {"odd": Trained(params, 1, "abcdefghijklmnopqrst")})
            rows.append(dict(rate=rate, steps=steps, start=seed) | summary(params))
            print(rows[-1], flush=True)
    FILE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="ascii")


if __name__ == "__main__":
    main()
