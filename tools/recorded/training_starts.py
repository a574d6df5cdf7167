"""Train the models of chapter 12 from eight random starts each, and write what they come to. Run by hand, some minutes:

    python -m tools.recorded.training_starts

It writes chapters/data/training_starts.json, which the chapter's tables read. Each model takes a minute or two on
one core. `tests/training/test_claims_of_the_chapter.py` trains some of them again.
"""

import json
import sys
from pathlib import Path

import numpy as np

from attnlib.training import (
    accuracy,
    cross_entropy,
    cross_entropy_backward,
    encode,
    head_means,
    induction_score,
    init_transformer,
    load_trained,
    previous_token_score,
    rms_norm,
    text_batch,
    train,
    transformer,
    transformer_loss,
    warmup_cosine,
    words_batch,
)
from attnlib.training.parameters import named, of_layer
from attnlib.training.transformer_layer import layer_backward, layer_forward
from tools.recorded.trained_models import text
from tools.recorded.writer_starts import in_half_precision

DATA = Path(__file__).resolve().parents[2] / "chapters" / "data"
FILE = DATA / "training_starts.json"
TASK = dict(n=24, vocabulary=20, words=4, shortest=2, longest=5)
BLOCK = dict(heads=4, positions="rotary")
STARTS = range(8)


def fresh_texts(b=256):
    return words_batch(np.random.default_rng(99), b=b, **TASK)


def first_seen(tokens):
    """True where a token stands for the first time in its text."""
    return np.array([[token not in text[:i] for i, token in enumerate(text)] for text in tokens.tolist()])


def learn(seed, next_batch, steps, start, peak=0.01, **parts):
    rng = np.random.default_rng(seed)
    kept = {}

    def report(step, loss, params):
        if step % 5 == 0:
            kept[step] = params

    _, losses = train(
        init_transformer(rng, **start),
        lambda: next_batch(rng),
        lambda params, batch: transformer_loss(params, batch, **parts),
        steps=steps,
        rate=lambda step: warmup_cosine(step, steps, peak=peak, warmup=20),
        report=report,
    )
    return kept, losses


def words(rng):
    return words_batch(rng, b=32, **TASK)


def right(params, texts, **parts):
    logits, _ = transformer(texts.tokens, params, **parts)
    return accuracy(logits, texts.targets, keep=texts.keep)


def circuits(params):
    """Three grids of letters: composed, the same without the note of layer 1, copied."""
    part = {(layer, which): params[f"{layer}.{which}_weight"] for layer in (0, 1) for which in ("query", "key", "value", "out")}
    tokens = params["tokens"]
    asks = tokens @ part[1, "query"]
    note = tokens @ part[0, "value"] @ part[0, "out"]
    return (
        asks @ (note @ part[1, "key"]).T,
        asks @ (tokens @ part[1, "key"]).T,
        tokens @ part[1, "value"] @ part[1, "out"] @ params["unembedding"],
    )


def rows_won(A):
    return int((A.argmax(axis=1) == np.arange(len(A))).sum())


def look_back(params, texts):
    """The previous-token score of layer 1 where a letter is asked for."""
    return previous_token_score(transformer(texts.tokens, params, heads=1)[1].weights[0], keep=texts.keep)[0]


def beside_even(seed, size, steps):
    """Two layers, of which the second looks evenly at all letters: its queries and keys are zero, and so are their slopes."""
    rng = np.random.default_rng(seed)
    start = init_transformer(rng, **size)
    start |= {name: np.zeros_like(start[name]) for name in ("1.query_weight", "1.key_weight")}
    params, _ = train(
        start, lambda: words(rng), lambda params, batch: transformer_loss(params, batch, heads=1), steps=steps,
        rate=lambda step: warmup_cosine(step, steps, peak=0.01, warmup=20),
    )  # fmt: skip
    return params


def two(seed, steps=300):
    size = dict(vocabulary=20, n=24, m=48, heads=1, layers=2)
    kept, losses = learn(seed, words, steps, size, heads=1)
    texts, end = fresh_texts(), kept[steps]
    new = first_seen(texts.tokens)

    def measures(params):
        logits, saved = transformer(texts.tokens, params, heads=1)
        return (
            previous_token_score(saved.weights[0], keep=new)[0],
            induction_score(saved.weights[1], texts.tokens)[0],
            accuracy(logits, texts.targets, keep=texts.keep),
        )

    curves = {step: measures(params) for step, params in kept.items()}
    half = [next(step for step in kept if curves[step][i] > 0.5) for i in range(3)]
    mean = head_means(transformer(texts.tokens, end, heads=1)[1])
    without = [
        right(end, texts, heads=1, without=gone)
        for gone in ({(0, 0)}, {(0, 0): mean[0, 0]}, {(1, 0)}, {(1, 0): mean[1, 0]})
    ]
    _, beside = learn(seed, words, steps, size | dict(layers=1), heads=1)
    grids = circuits(end)
    by_chance = circuits(init_transformer(np.random.default_rng(seed), **size))[0]
    return dict(
        start=seed, plateau=losses[50:60].mean(), beside=beside[50:60].mean(), half=half,
        previous=curves[steps][0], induction=curves[steps][1], right=curves[steps][2], without=without,
        scores=[curves[step][1] for step in range(10, steps + 1, 10)],
        asked=look_back(end, texts), even=look_back(beside_even(seed, size, steps), texts),
        avoided=int((np.diag(grids[1]) < grids[1].mean(axis=1)).sum()),
        circuits=[rows_won(A) for A in grids], by_chance=rows_won(by_chance),
    )  # fmt: skip


ONE_BACK = np.eye(24, k=-1)
EVENLY = np.tri(24) / np.arange(1, 25)[:, np.newaxis]  # at all letters so far, its own included
FIRST_LAYERS = {"one back": ONE_BACK, "evenly": EVENLY, "two back": np.eye(24, k=-2), "nothing": np.zeros((24, 24))}
SECOND = dict(rotate=False, residual=True)


def fixed_forward(params, tokens, P):
    """Two layers, of which the first always has the weights P: the logits, and what the backward needs."""
    x, arrays = params["tokens"][tokens] + params["positions"], of_layer(params, 0)
    looked = P @ x
    handed = looked @ arrays["value_weight"]
    y, saved = layer_forward(x + handed @ arrays["out_weight"], of_layer(params, 1), heads=1, causal=True, **SECOND)
    return y @ params["unembedding"], (looked, handed, y, saved)


def fixed_loss(params, batch, P):
    """The loss of `fixed_forward` and its gradients. The queries and keys of the first layer are not in use."""
    logits, (looked, handed, y, saved) = fixed_forward(params, batch.tokens, P)
    loss, weights = cross_entropy(logits, batch.targets, keep=batch.keep)
    d_logits = cross_entropy_backward(1.0, batch.targets, weights, keep=batch.keep)
    d_x, d_second = layer_backward(d_logits @ params["unembedding"].T, of_layer(params, 1), saved, **SECOND)
    d_params = {name: np.zeros_like(array) for name, array in params.items()} | named(1, d_second)
    d_params["unembedding"] = np.einsum("bnm,bnk->mk", y, d_logits)
    d_params["0.out_weight"] = np.einsum("bnm,bnk->mk", handed, d_x)
    d_handed = d_x @ params["0.out_weight"].T
    d_params["0.value_weight"] = np.einsum("bnm,bnk->mk", looked, d_handed)
    d_x = d_x + P.T @ (d_handed @ params["0.value_weight"].T)
    d_params["positions"] = d_x.sum(axis=0)
    np.add.at(d_params["tokens"], batch.tokens, d_x)
    return loss, d_params


def fixed_layer(seed, P, steps=300):
    """The first layer has the weights P from the start. When does the induction score of layer 2 pass 0.5, what is right in the end, how
    many rows of the composed grid does the diagonal win, and what is the score after each tenth step?"""
    rng, texts, scores = np.random.default_rng(seed), fresh_texts(), {}

    def score(params):
        return induction_score(fixed_forward(params, texts.tokens, P)[1][3].attention.weights, texts.tokens)[0]

    def report(step, loss, params):
        if step % 5 == 0:
            scores[step] = score(params)

    params, _ = train(
        init_transformer(rng, vocabulary=20, n=24, m=48, heads=1, layers=2), lambda: words(rng),
        lambda params, batch: fixed_loss(params, batch, P), steps=steps,
        rate=lambda step: warmup_cosine(step, steps, peak=0.01, warmup=20), report=report,
    )  # fmt: skip
    share = accuracy(fixed_forward(params, texts.tokens, P)[0], texts.targets, keep=texts.keep)
    passed = next((step for step in scores if scores[step] > 0.5), None)
    return [passed, share, rows_won(circuits(params)[0])], [scores[step] for step in range(10, steps + 1, 10)]


def fixed(seed):
    """Where the first layer looks is fixed: one back, evenly at all letters so far, two back; or it hands over nothing."""
    found = {name: fixed_layer(seed, P) for name, P in FIRST_LAYERS.items()}
    return dict(start=seed) | {name: ends for name, (ends, _) in found.items()} | {"scores": {name: scores for name, (_, scores) in found.items()}}


def fast(seed, steps=300):
    """The two layers at three times the rate."""
    kept, _ = learn(seed, words, steps, dict(vocabulary=20, n=24, m=48, heads=1, layers=2), peak=0.03, heads=1)
    return dict(start=seed, right=right(kept[steps], fresh_texts(), heads=1))


def by_places(make, seed=0, steps=300):
    """The best logits from places alone: a number for each pair of places, fitted to the same loss (a convex problem)."""
    tri, rng = np.tri(24, dtype=bool), np.random.default_rng(seed)

    def logits(params, batch):
        return np.einsum("qk,bkt->bqt", np.where(tri, params["places"], 0), np.eye(20)[batch.tokens])

    def slopes(params, batch):
        loss, weights = cross_entropy(logits(params, batch), batch.targets, keep=batch.keep)
        d_logits = cross_entropy_backward(1.0, batch.targets, weights, keep=batch.keep)
        return loss, {"places": np.einsum("bqt,bkt->qk", d_logits, np.eye(20)[batch.tokens]) * tri}

    params, _ = train(
        {"places": np.zeros((24, 24))}, lambda: make(rng, 128), slopes, steps=steps,
        rate=lambda step: warmup_cosine(step, steps, peak=0.3, warmup=20),
    )  # fmt: skip
    texts = make(np.random.default_rng(99), 1024)
    return accuracy(logits(params, texts), texts.targets, keep=texts.keep)


def places(seed):
    return dict(start=seed, right=by_places(lambda rng, b: words_batch(rng, b=b, **TASK), seed))


def one(seed, steps=3000):
    found, texts = dict(start=seed), fresh_texts(512)
    for heads in (1, 2, 4):
        start = dict(vocabulary=20, n=24, m=48, heads=heads, layers=1)
        kept, losses = learn(seed, words, steps, start, heads=heads)
        found[f"{heads} heads"] = [right(kept[step], texts, heads=heads) for step in range(500, steps + 1, 500)]
    return found


def wide(seed, steps=3000):
    """One layer again, twice as wide and with eight heads."""
    kept, _ = learn(seed, words, steps, dict(vocabulary=20, n=24, m=96, heads=8, layers=1), peak=0.003, heads=8)
    return dict(start=seed, right=right(kept[steps], fresh_texts(512), heads=8))


def neighbours():
    """One layer of 46 heads, set by hand, that solves the task: the arrays of a model.

    Two heads belong to each pair of neighbouring places. One looks at the first place, unless its own letter stands there; then it looks
    at the second, and copies what came after its own letter. The other always looks at the first place and takes away what it finds.
    So a pair of places without the own letter adds nothing.
    """
    letters, place, m, d = np.eye(20, 44), np.eye(24, 44, k=20), 44, 44
    query, key, value, out = [], [], [], []
    for first in range(23):
        for sign in (1, -1):
            scores = np.zeros((m, m))  # features of the query as rows, of the key as columns
            scores[20:, 20 + first] = 200
            if sign == 1:
                scores[20:, 20 + first + 1] = 170
                scores[:20, :20] = -90 * np.eye(20)
            query.append(np.sqrt(d) * scores)
            key.append(np.eye(m))
            value.append(np.eye(m))
            out.append(sign * np.eye(m) * (np.arange(m) < 20))
    widths = {"query": query, "key": key, "value": value}
    params = {f"0.{name}_weight": np.concatenate(parts, axis=1) for name, parts in widths.items()}
    params["0.out_weight"] = np.concatenate(out, axis=0)
    return dict(tokens=letters, positions=place, unembedding=letters.T) | params


def by_hand(seed):
    texts = words_batch(np.random.default_rng(seed), b=256, **TASK)
    return dict(start=seed, right=right(neighbours(), texts, heads=46))


def double(seed, steps=300):
    kept, _ = learn(seed, words, steps, dict(vocabulary=20, n=24, m=48, heads=2, layers=2), heads=2)
    texts, end = fresh_texts(), kept[steps]
    _, saved = transformer(texts.tokens, end, heads=2)

    def without(*gone):
        return right(end, texts, heads=2, without=set(gone))

    return dict(
        start=seed, right=without(),
        induction=induction_score(saved.weights[1], texts.tokens).tolist(),
        second=[without((1, 0)), without((1, 1)), without((1, 0), (1, 1))],
    )  # fmt: skip


def written_twice(b=64, vocabulary=20, half=12, seed=0):
    """Different letters in random order, and then again in the same order; the last letter is only a target."""
    every = np.broadcast_to(np.arange(vocabulary), (b, vocabulary))
    once = np.random.default_rng(seed).permuted(every, axis=1)[:, :half]
    return np.concatenate([once, once], axis=1)


def block(seed, steps=300):
    """The blocks of the writing model, in every size that counts, trained on the task of words."""
    start = dict(vocabulary=20, m=64, layers=2, norm=True, hidden=128, **BLOCK)
    kept, _ = learn(seed, words, steps, start, **BLOCK)
    texts, end = fresh_texts(), kept[steps]
    _, saved = transformer(texts.tokens, end, **BLOCK)
    twice = written_twice()
    guesses, maps = transformer(twice[:, :-1], end, **BLOCK)
    found = dict(
        start=seed, right=right(end, texts, **BLOCK),
        induction=induction_score(saved.weights[1], texts.tokens).tolist(), rows=composed_rows(end),
        copied=accuracy(guesses[:, 12:], twice[:, 13:]),
        copying=np.ravel([induction_score(P, twice[:, :-1]) for P in maps.weights]).tolist(),
    )  # fmt: skip
    if seed == 0:  # for the figure: of four heads the largest weight, for the first text
        found["map"] = maps.weights[1][0].max(axis=0).ravel().tolist()
    return found


def composed_rows(params, heads=4):
    """The share of rows of own token against the note of layer 1 that the diagonal wins, for each head of layer 2."""
    tokens = params["tokens"]
    note = rms_norm(tokens, params["0.attention_gain"]) @ params["0.value_weight"] @ params["0.out_weight"]
    asks = (tokens * params["1.attention_gain"]) @ params["1.query_weight"]
    keys = (note * params["1.attention_gain"]) @ params["1.key_weight"]
    return [rows_won(asks[:, head] @ keys[:, head].T) / len(tokens) for head in np.split(np.arange(tokens.shape[1]), heads)]


def copies_of_prose(trained, b=512, n=40):
    """The loss on passages of held-out prose that the model has just read, and on the same passages after other ones."""
    tokens = encode((DATA / "prose.txt").read_text(encoding="ascii"), trained.alphabet)
    passages = text_batch(np.random.default_rng(7), tokens[len(tokens) * 9 // 10 :], b=b, n=n).tokens
    found = []
    for before in (passages, np.roll(passages, 1, axis=0)):
        both = np.concatenate([before, passages], axis=1)
        logits, _ = transformer(both[:, :-1], trained.params, **BLOCK)
        found.append(cross_entropy(logits[:, n:], both[:, n + 1 :])[0])
    return found


def writer(seed):
    """The writing model from eight starts, with the tests that look for an induction head; start 0 is the book's own."""
    trained = in_half_precision(text(seed)) if seed else load_trained(DATA / "trained.npz", "text")
    letters = encode("abcdefghijklmnopqrst", trained.alphabet)
    twice = letters[written_twice()]
    guesses, maps = transformer(twice[:, :-1], trained.params, **BLOCK)
    return dict(
        start=seed, copied=accuracy(guesses[:, 12:], twice[:, 13:]), rows=composed_rows(trained.params),
        copying=np.ravel([induction_score(P, twice[:, :-1]) for P in maps.weights]).tolist(),
        prose=copies_of_prose(trained),
    )  # fmt: skip


MODELS = {model.__name__: model for model in (two, fixed, fast, by_hand, places, one, wide, double, block, writer)}


def rounded(value, digits=5):
    """Shares keep five digits, because the chapter rounds them again; curves and maps are only drawn."""
    if isinstance(value, dict):
        return {key: rounded(part, 3 if key in ("scores", "map") else digits) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part, digits) for part in value]
    return value if isinstance(value, (int, type(None))) else round(float(value), digits)


def main(names):
    found = json.loads(FILE.read_text(encoding="ascii")) if FILE.exists() else {}
    for name in names or MODELS:
        found[name] = []
        for seed in STARTS:
            found[name].append(rounded(MODELS[name](seed)))
            print(name, found[name][-1], flush=True)
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main(sys.argv[1:])
