"""attnlib.pretrained with heads taken out, by zero and by mean, against a slow BERT that shares no code with it."""

import json

import numpy as np
import pytest
from array_tools import close
from bert_oracle import bert
from pretrained_cases import SMALL, SMALL_ANSWERS, answers

from attnexercises.attention.forward import sdpa
from attnexercises.multihead.forward import mha
from attnexercises.softmax.forward import softmax
from attnlib.pretrained import load_pretrained, read_safetensors

RECORDED = answers(SMALL_ANSWERS)
TEXTS = RECORDED["sentences"].tolist()
CONFIG = json.loads((SMALL / "config.json").read_text(encoding="utf-8"))
PLACES = [(layer, head) for layer in range(CONFIG["num_hidden_layers"]) for head in range(CONFIG["num_attention_heads"])]
# As much of the attention as a reader has written.
DOORS = {"book": {}, "softmax": dict(softmax=softmax), "sdpa": dict(sdpa=sdpa), "mha": dict(mha=mha)}


def model_of(door="book"):
    return load_pretrained(SMALL, dtype=np.float64, **DOORS[door])


def oracle(number, instead=()):
    ids = RECORDED[f"{number}/ids"].tolist()
    return bert(read_safetensors(SMALL / "model.safetensors"), CONFIG, ids, range(len(ids)), instead)


def test_what_the_slow_bert_gives_was_recorded():
    for number in range(len(TEXTS)):
        states, weights, outputs = oracle(number)
        close(states, RECORDED[f"{number}/states"])
        close(weights, RECORDED[f"{number}/weights"])
        close(model_of().inside(RECORDED[f"{number}/ids"]).outputs, outputs)


def test_padding_that_cannot_be_seen():
    """Also for the places of the padding themselves."""
    arrays = read_safetensors(SMALL / "model.safetensors")
    for number, ids in enumerate(RECORDED["padded/ids"].tolist()):
        close(bert(arrays, CONFIG, ids, range(RECORDED["padded/mask"][number].sum()))[0], RECORDED["padded/states"][number])


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("chosen", [*([place] for place in PLACES), PLACES[::2], PLACES], ids=str)
def test_heads_out_by_zero_and_by_mean(number, chosen):
    ids, means = RECORDED[f"{number}/ids"], model_of().head_means(TEXTS)
    for without, instead in ((set(chosen), dict.fromkeys(chosen, [0.0] * 4)), ({place: means[place] for place in chosen},) * 2):
        expected = oracle(number, instead)[0]
        assert abs(expected[-1] - RECORDED[f"{number}/states"][-1]).max() > 1e-3
        for door in DOORS:
            model = model_of(door)
            close(model.run(ids, without=without)[0], expected[-1], 1e-12)
            close(model.inside(ids, without=without).states, expected, 1e-12)
            vector = model.embed([TEXTS[number], TEXTS[0]], without=without)[0]
            close(vector, model.pool(expected[-1]), 1e-12)


def test_the_mean_output_of_a_head():
    outputs = np.concatenate([oracle(number)[2] for number in range(len(TEXTS))], axis=2)
    means = model_of().head_means(TEXTS)
    assert list(means) == PLACES
    for place, mean in means.items():
        close(mean, outputs[place].mean(axis=0))


def test_an_array_for_each_token_and_what_inside_shows():
    model, ids = model_of(), RECORDED["1/ids"]
    before = model.inside(ids)
    same = model.inside(ids, without={place: before.outputs[place] for place in PLACES})
    close(same.states, before.states)
    out = model.inside(ids, without={(1, 2): 0.5})
    assert (out.outputs[1, 2] == 0.5).all()
    np.testing.assert_array_equal(out.outputs[0], before.outputs[0])
    np.testing.assert_array_equal(out.weights, before.weights)
