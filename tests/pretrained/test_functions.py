"""attnlib.pretrained: any function of the reader in the place of the book's gives the same, with masks and without heads."""

import numpy as np
import pytest
from array_tools import close
from pretrained_cases import SMALL

from attnexercises.attention.forward import sdpa
from attnexercises.multihead.forward import mha
from attnexercises.softmax.forward import softmax
from attnlib.flash import flash_attention
from attnlib.masks import padding_mask
from attnlib.multihead import split_heads
from attnlib.pretrained import gelu, layer_norm, load_pretrained


def flash(query, key, value):
    return flash_attention(query, key, value, block_q=2, block_k=3)[0]


OURS = {"softmax": {"softmax": softmax}, "sdpa": {"sdpa": sdpa}, "flash": {"sdpa": flash}, "mha": {"mha": mha}, "mha sdpa": {"mha": mha, "sdpa": sdpa}}
TEXTS = ["The cat sat on the mat because it was tired.", "Dogs, dogs!", "cat", ""]


def load(**functions):
    return load_pretrained(SMALL, dtype=np.float64, **functions)


def same(ours, book):
    for a, b in zip(ours, book, strict=True):
        close(a, b, 1e-11)


@pytest.mark.parametrize("given", OURS)
@pytest.mark.parametrize("without", [(), {(0, 1), (1, 2)}, {(0, 0): np.linspace(-1, 1, 4), (1, 1): 0.0}], ids=["all", "by zero", "by mean"])
def test_a_readers_function_gives_what_the_books_gives(given, without):
    ours, book = load(**OURS[given]), load()
    ids = book.tokenize(TEXTS[0])
    same(ours.inside(ids, without=without), book.inside(ids, without=without))
    same([ours.run(ids, without=without, weights=False)[0]], [book.run(ids, without=without)[0]])
    close(ours.embed(TEXTS, without=without), book.embed(TEXTS, without=without), 1e-11)
    if without:
        assert np.abs(book.run(ids)[0] - book.run(ids, without=without)[0]).max() > 0.01


@pytest.mark.parametrize("given", ["softmax", "sdpa", "flash"])
def test_a_padding_mask(given):
    ours, book = load(**OURS[given]), load()
    ids, lengths = book.pad([book.tokenize(text) for text in TEXTS])
    mask = padding_mask(lengths[:, np.newaxis], ids.shape[1])
    same(ours.inside(ids, mask=mask), book.inside(ids, mask=mask))


def test_a_text_of_padding_alone():
    """Its queries may look at nothing, which the book answers by zero; a reader's function need not know what to do."""
    ours, book, mask = load(sdpa=sdpa), load(), padding_mask([[3], [0]], 3)
    same(ours.inside([[2, 5, 3], [0, 0, 0]], mask=mask), book.inside([[2, 5, 3], [0, 0, 0]], mask=mask))


def test_a_mask_of_another_kind_needs_a_softmax():
    book, ids = load(), load().tokenize(TEXTS[0])
    causal = np.tri(len(ids), dtype=bool)
    additive = np.where(causal, 0.5, -np.inf)
    for mask in (causal, additive):
        same(load(softmax=softmax).inside(ids, mask=mask), book.inside(ids, mask=mask))
        with pytest.raises(ValueError, match="sdpa takes no mask, so hidden keys are left out"):
            load(sdpa=sdpa).run(ids, mask=mask)
    with pytest.raises(ValueError, match="run: mha takes no mask. Run each text by itself"):
        load(mha=mha).run(ids, mask=causal)


@pytest.mark.parametrize("name", ["softmax", "sdpa", "mha", "layer_norm", "gelu"])
def test_the_function_that_is_given_does_the_work(name):
    """It is called, and what it returns counts."""
    given = dict(softmax=softmax, sdpa=sdpa, mha=mha, layer_norm=layer_norm, gelu=gelu)[name]
    calls = []

    def spied(*arguments):
        calls.append(arguments)
        return given(*arguments)

    ids = load().tokenize(TEXTS[0])
    load(**{name: spied}).run(ids, weights=False)
    assert len(calls) == {"layer_norm": 5}.get(name, 2)
    wrong, _ = load(**{name: lambda *arguments: 0.9 * given(*arguments)}).run(ids, weights=False)
    assert np.abs(wrong - load().run(ids)[0]).max() > 1e-3


@pytest.mark.parametrize("name", ["softmax", "sdpa", "mha", "layer_norm", "gelu"])
def test_a_function_that_returns_something_else_is_named(name):
    ids = load().tokenize("cat")
    for returned in (np.ones((1, 2)), None, np.ones(3, int)):
        with pytest.raises(ValueError, match=rf"^{name} must return an array of shape \(.*\); got "):
            load(**{name: lambda *arguments, returned=returned: returned}).run(ids)
    with pytest.raises(TypeError, match=f"load_pretrained: {name} must be a function; got int"):
        load(**{name: 3})


def test_heads_are_what_they_hand_on():
    """The outputs of the heads are their weights times their values; means over all tokens of several texts take their place."""
    model = load()
    inside = [model.inside(model.tokenize(text)) for text in TEXTS]
    close(inside[0].outputs, inside[0].weights @ inside[0].values, 1e-12)
    means = model.head_means(TEXTS)
    every = np.concatenate([each.outputs[1, 2] for each in inside])
    assert len(means) == 6
    close(means[1, 2], every.mean(axis=0), 1e-12)
    out = model.inside(model.tokenize(TEXTS[0]), without={(1, 2): means[1, 2]}).outputs[1, 2]
    close(out, np.broadcast_to(means[1, 2], out.shape))
    layer = model.arrays.layers[0].attention
    close(split_heads(inside[0].states[0] @ layer.value_weight + layer.value_bias, 3), inside[0].values[0], 1e-12)


def test_the_vectors_do_not_depend_on_the_batch_or_on_its_order():
    model = load()
    texts = [word for word in "cat sat mat dog street tired".split()] * 4 + TEXTS  # more than one batch
    together, alone = model.embed(texts), np.concatenate([model.embed([text]) for text in texts])
    close(together, alone, 1e-12)
    close(np.linalg.norm(together, axis=-1), np.ones(len(texts)), 1e-12)
    assert model.embed([]).shape == (0, 12)
    ids, lengths = model.pad([model.tokenize(text) for text in TEXTS])
    states, _ = model.run(ids, mask=padding_mask(lengths[:, np.newaxis], ids.shape[1]))
    close(model.pool(states, lengths), model.embed(TEXTS), 1e-12)
    mean = states[1, : lengths[1]].mean(axis=0)
    close(model.pool(states, lengths)[1], mean / np.linalg.norm(mean), 1e-12)
