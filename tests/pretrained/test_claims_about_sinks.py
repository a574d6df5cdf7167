"""What chapter 13 says of the sinks of the trained model, on sentences that the page does not take."""

import numpy as np
import pytest

from attnlib.pretrained import load_pretrained
from attnlib.softmax import softmax
from tools.notebooks.needs import NEEDED
from tools.recorded.pronoun_heads import MODEL, pairs


@pytest.fixture(scope="module")
def model():
    if not NEEDED["model"][0].exists():
        pytest.skip(NEEDED["model"][1])
    return load_pretrained(MODEL)


@pytest.mark.thorough
def test_a_sink_is_looked_at_and_says_nothing(model):
    texts = [row["sentence"] for row in pairs()[3::24]]
    whole = model.embed(texts)

    def without_share_of_first(scores):
        weights = softmax(scores)
        weights[..., 0] = 0
        return weights

    def hiding(text, place):
        ids = model.tokenize(text)
        return model.pool(model.run(ids, mask=np.arange(len(ids)) != place, weights=False)[0])

    silent = load_pretrained(MODEL, softmax=without_share_of_first)
    assert np.vecdot(whole, np.array([silent.embed([text])[0] for text in texts])).min() > 0.98
    moved = {place: np.vecdot(whole, np.array([hiding(text, place) for text in texts])).mean() for place in (0, 2)}
    assert moved[0] < 0.75 < 0.85 < moved[2]
    last = np.array([[hiding(text, len(model.tokenize(text)) - back) for back in (1, 2)] for text in texts])  # [SEP] and the full stop
    assert np.vecdot(whole[:, np.newaxis], last).mean(axis=0).min() > 0.98
    for seed in range(8):
        rng = np.random.default_rng(seed)
        moved = np.array([hiding(text, rng.integers(1, len(model.tokenize(text)) - 1)) for text in texts])
        assert np.vecdot(whole, moved).mean() > 0.9


def test_what_a_sink_brings_is_little_in_most_heads_and_not_in_all(model):
    """The size of its weighted value, against the sum of all others, in the heads that give it more than half of their weight."""
    on_first, share = [], []
    for row in pairs()[3::24]:
        inside = model.inside(model.tokenize(row["sentence"]))
        weights, values = inside.weights, inside.values
        first, rest = weights[..., :1] * values[..., :1, :], weights[..., 1:] @ values[..., 1:, :]
        on_first.append(weights[..., 0].mean(axis=-1))
        share.append(np.linalg.norm(first, axis=-1).mean(axis=-1) / np.linalg.norm(rest, axis=-1).mean(axis=-1))
    share = np.mean(share, axis=0)[np.mean(on_first, axis=0) > 0.5]
    assert share.size >= 25 and np.median(share) < 0.15 and (share < 0.35).mean() > 0.8 and share.max() > 0.5
