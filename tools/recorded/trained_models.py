"""Train the two models that ship with the book, for chapter 12. Run by hand, a few minutes:

    python -m tools.recorded.trained_models

It writes chapters/data/trained.npz. "induction" is what the chapter trains itself; "text" is the chapter's small
model on chapters/data/prose.txt, trained for more steps than a reader wants to wait for. In float32, whose last digits
depend on the processor: a new run gives a model as good, not the same numbers.
"""

from pathlib import Path

import numpy as np

from attnlib.training import (
    Trained,
    accuracy,
    alphabet_of,
    cross_entropy,
    encode,
    induction_batch,
    init_transformer,
    save_trained,
    text_batch,
    train,
    transformer,
    transformer_loss,
    warmup_cosine,
)

DATA = Path(__file__).resolve().parents[2] / "chapters" / "data"
TASK = dict(n=24, vocabulary=20, shortest=5, longest=12)


def plan(steps, peak=0.01):
    return lambda step: warmup_cosine(step, steps, peak=peak, warmup=20)


def learned_pair(seed, peak, steps):
    """The arrays of two layers with a head each, trained on the task from this start at this rate."""
    rng = np.random.default_rng(seed)
    start = init_transformer(rng, vocabulary=20, n=24, m=48, heads=1, layers=2, dtype=np.float32)
    params, _ = train(
        start,
        lambda: induction_batch(rng, b=64, **TASK),
        lambda params, batch: transformer_loss(params, batch, heads=1),
        steps=steps,
        rate=plan(steps, peak),
    )
    return params


def induction(steps=400):
    params = learned_pair(0, 0.01, steps)
    fresh = induction_batch(np.random.default_rng(1), b=256, **TASK)
    logits, _ = transformer(fresh.tokens, params, heads=1)
    print(f"induction: {accuracy(logits, fresh.targets, keep=fresh.keep):.3f} right on new sequences")
    return Trained(params, 1, "abcdefghijklmnopqrst")


def text(start=0, steps=1600, m=64, heads=4, n=128):
    written = (DATA / "prose.txt").read_text(encoding="ascii")
    alphabet = alphabet_of(written)
    tokens = encode(written, alphabet)
    learned, held_out = np.split(tokens, [len(tokens) * 9 // 10])
    rng = np.random.default_rng(start)
    parts = dict(heads=heads, positions="rotary")
    sizes = dict(vocabulary=len(alphabet), m=m, layers=2, hidden=2 * m, norm=True, dtype=np.float32)
    begun = init_transformer(rng, **sizes, **parts)
    test = text_batch(np.random.default_rng(5), held_out, b=32, n=n)

    def report(step, loss, params):
        if step % 100 == 0:
            logits, _ = transformer(test.tokens, params, **parts)
            said = cross_entropy(logits, test.targets)[0]
            print(f"text: step {step} of {steps}, loss {loss:.3f}, held out {said:.3f}", flush=True)

    params, _ = train(
        begun,
        lambda: text_batch(rng, learned, b=12, n=n),
        lambda params, batch: transformer_loss(params, batch, **parts),
        steps=steps,
        rate=plan(steps),
        report=report,
    )
    return Trained(params, heads, alphabet)


if __name__ == "__main__":
    target = DATA / "trained.npz"
    save_trained(target, {"induction": induction(), "text": text()})
    print(f"{target.name}: {target.stat().st_size} bytes")
