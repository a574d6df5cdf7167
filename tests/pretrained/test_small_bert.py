"""attnlib.pretrained on a model of random weights: what transformers answered, and, for heads taken out, a slow BERT of our own."""

import json

import numpy as np
import pytest
from array_tools import close
from bert_oracle import bert
from pretrained_cases import SMALL, SMALL_ANSWERS, answers, copied

from attnlib.attention import attention
from attnlib.masks import padding_mask
from attnlib.multihead import MultiHeadParams, multihead_attention
from attnlib.pretrained import gelu, layer_norm, load_pretrained, read_safetensors, write_safetensors
from attnlib.softmax import softmax

RECORDED = answers(SMALL_ANSWERS)
TEXTS = RECORDED["sentences"].tolist()
CONFIG = json.loads((SMALL / "config.json").read_text(encoding="utf-8"))
LAYERS, HEADS = CONFIG["num_hidden_layers"], CONFIG["num_attention_heads"]
PLACES = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
TOLERANCE = {np.float64: 1e-13, np.float32: 4 * RECORDED["float32_error"].max()}  # of float32: four times that of transformers


def mha(x, query_weight, key_weight, value_weight, out_weight, heads):
    return multihead_attention(x, MultiHeadParams(query_weight, key_weight, value_weight, out_weight, heads))[0]


# As much of the attention as a reader has written.
DOORS = {
    "book": {},
    "softmax": dict(softmax=softmax),
    "sdpa": dict(sdpa=lambda query, key, value: attention(query, key, value)[0]),
    "mha": dict(mha=mha),
    "all": dict(softmax=softmax, sdpa=lambda query, key, value: attention(query, key, value)[0], mha=mha, layer_norm=layer_norm, gelu=gelu),
}
doors = pytest.mark.parametrize("door", DOORS)


@pytest.fixture(params=TOLERANCE, ids=lambda dtype: dtype.__name__)
def dtype(request):
    return request.param


def model_of(door="book", dtype=np.float64):
    return load_pretrained(SMALL, dtype=dtype, **DOORS[door])


def oracle(number, instead=()):
    ids = RECORDED[f"{number}/ids"].tolist()
    return bert(read_safetensors(SMALL / "model.safetensors"), CONFIG, ids, range(len(ids)), instead)


def batch(model):
    ids, lengths = model.pad([model.tokenize(text) for text in TEXTS])
    return ids, lengths, padding_mask(lengths[:, np.newaxis], ids.shape[1])


# --- as recorded ----------------------------------------------------------------------------------


@doors
@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_a_text_alone(door, number, dtype):
    model, tolerance = model_of(door, dtype), TOLERANCE[dtype]
    ids = model.tokenize(TEXTS[number])
    assert ids.tolist() == RECORDED[f"{number}/ids"].tolist()
    states, weights = model.run(ids)
    inside = model.inside(ids)
    assert states.dtype == weights.dtype == inside.values.dtype == dtype
    close(inside.states, RECORDED[f"{number}/states"], tolerance)
    close(inside.weights, RECORDED[f"{number}/weights"], tolerance)
    close(states, inside.states[-1], 10 * np.finfo(dtype).eps)  # mha sums its biases in another order
    np.testing.assert_array_equal(weights, inside.weights)
    close(inside.weights @ inside.values, inside.outputs, tolerance)
    assert model.run(ids, weights=False)[1] is None
    close(model.run(ids, weights=False)[0], states, 10 * np.finfo(dtype).eps)


@pytest.mark.parametrize("door", ["book", "softmax", "sdpa"])
def test_padded_texts(door, dtype):
    model, tolerance = model_of(door, dtype), TOLERANCE[dtype]
    ids, lengths, mask = batch(model)
    np.testing.assert_array_equal(ids, RECORDED["padded/ids"])
    np.testing.assert_array_equal(lengths, RECORDED["padded/mask"].sum(axis=1))
    inside = model.inside(ids, mask=mask)
    close(inside.states, RECORDED["padded/states"], tolerance)
    close(inside.weights[-1, ..., :2, :], RECORDED["padded/weights"], tolerance)
    for number, n in enumerate(lengths):
        assert not inside.weights[number, ..., n:].any()
        close(inside.weights[number, ..., :n, :n], RECORDED[f"{number}/weights"], tolerance)
        close(inside.states[number, :, :n], RECORDED[f"{number}/states"], tolerance)


@doors
def test_one_vector_for_a_text(door, dtype):
    model, tolerance = model_of(door, dtype), TOLERANCE[dtype]
    close(model.embed(TEXTS), RECORDED["vectors"], tolerance)
    close(model.embed(TEXTS[::-1]), RECORDED["vectors"][::-1], tolerance)
    many = model.embed(TEXTS * 9)  # more than run together
    close(many, np.tile(RECORDED["vectors"], (9, 1)), tolerance)
    assert many.dtype == dtype and model.embed([]).shape == (0, 12)
    close(np.vecdot(many, many), np.ones(27), tolerance)


def test_an_additive_mask_and_further_axes():
    model = model_of()
    ids, _, mask = batch(model)
    states, weights = model.run(ids, mask=mask)
    again = model.run(ids[:, np.newaxis], mask=np.where(mask, 0.0, -np.inf)[:, np.newaxis])
    close(again[0][:, 0], states)
    close(again[1][:, 0], weights)


def test_what_the_slow_bert_gives_was_recorded():
    for number in range(len(TEXTS)):
        states, weights, outputs = oracle(number)
        close(states, RECORDED[f"{number}/states"])
        close(weights, RECORDED[f"{number}/weights"])
        close(model_of().inside(RECORDED[f"{number}/ids"]).outputs, outputs)


# --- heads taken out ------------------------------------------------------------------------------


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


# --- other files ----------------------------------------------------------------------------------


def test_float16_weights_are_those_numbers_rounded(tmp_path):
    arrays = read_safetensors(SMALL / "model.safetensors")
    models = []
    for name, kinds in (("half", [np.float16]), ("rounded", [np.float16, np.float32])):
        folder = tmp_path / name
        folder.mkdir()
        copied(folder)
        stored = arrays
        for kind in kinds:
            stored = {key: array.astype(kind) for key, array in stored.items()}
        write_safetensors(folder / "model.safetensors", stored)
        models.append(load_pretrained(folder))
    ids = RECORDED["0/ids"]
    half, rounded = (model.run(ids) for model in models)
    assert half[0].dtype == np.float32
    for ours, expected, exact in zip(half, rounded, model_of(dtype=np.float32).run(ids), strict=True):
        np.testing.assert_array_equal(ours, expected)
        assert 0 < abs(ours - exact).max() < 0.05


def test_a_release_that_keeps_some_tokens(tmp_path):
    """Its rows are those of the ids in `kept_tokens`, in that order; the ids stay those of the whole vocabulary."""
    folder, whole = copied(tmp_path), model_of()
    kept = sorted({0, 1, 2, 3, 4, *RECORDED["0/ids"].tolist()}, reverse=True)
    arrays = dict(read_safetensors(folder / "model.safetensors"))
    name = "embeddings.word_embeddings.weight"
    arrays[name] = arrays[name][kept]
    write_safetensors(folder / "model.safetensors", arrays)
    (folder / "config.json").write_text(json.dumps(CONFIG | {"vocab_size": len(kept), "kept_tokens": kept}))
    cut = load_pretrained(folder, dtype=np.float64)
    ids = cut.tokenize(TEXTS[0])
    np.testing.assert_array_equal(ids, RECORDED["0/ids"])
    np.testing.assert_array_equal(cut.run(ids)[0], whole.run(ids)[0])
    lost = min(set(range(max(kept))) - set(kept))
    with pytest.raises(ValueError, match=r"^tokenize: this copy of the model keeps \d+ tokens of its vocabulary; it has none for: dog, street, !\.$"):
        cut.tokenize("The dog sat on the street. Dog!")
    with pytest.raises(ValueError, match=f"^run: this copy of the model does not keep the token {lost}"):
        cut.run([2, lost, 3])
    with pytest.raises(ValueError, match="^run: ids must be integers from 0 to"):
        cut.run([2, 23, 3])


def test_an_unknown_word_is_a_token_of_its_own():
    model = model_of()
    assert model.words(model.tokenize("a xylophone!")) == ["[CLS]", "a", "[UNK]", "!", "[SEP]"]
    assert len(model.tokenize("cat " * 99)) == CONFIG["max_position_embeddings"]
    assert model.tokenize("cat " * 99)[-1] == model.tokenizer.vocabulary["[SEP]"]


# --- what is refused ------------------------------------------------------------------------------

TWO = [[2, 5, 3], [2, 3, 0]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: m.tokenize(3), TypeError, "tokenize: text must be a string; got int."),
        (lambda m: m.embed("one text"), TypeError, "embed: texts must be a list of strings; got str."),
        (lambda m: m.embed([1]), TypeError, "embed: texts must be a list of strings; got list."),
        (lambda m: m.head_means(None), TypeError, "head_means: texts must be a list of strings; got NoneType."),
        (lambda m: m.head_means([]), ValueError, "head_means: texts must hold at least one text."),
        (lambda m: m.run([2, 99, 3]), ValueError, "run: ids must"),
        (lambda m: m.run([2, -1, 3]), ValueError, "run: ids must"),
        (lambda m: m.run([2.0, 3.0]), TypeError, "run: ids must"),
        (lambda m: m.run(2), ValueError, "run: ids must have the shape (..., n), with n from 1 to 16; got ()."),
        (lambda m: m.run([2] * 17), ValueError, "run: ids must have the shape (..., n), with n from 1 to 16; got (17,)."),
        (lambda m: m.inside(np.zeros((2, 0), int)), ValueError, "inside: ids must have the shape (..., n), with n from 1 to 16"),
        (lambda m: m.run(TWO, mask=np.ones((2, 3), bool)), ValueError, "run: mask"),
        (lambda m: m.run(TWO, without={(2, 0)}), ValueError, "run: without names (2, 0); there are 2 layers of 3 heads, from 0."),
        (lambda m: m.run(TWO, without={3}), TypeError, "run: without must hold pairs (layer, head); got 3."),
        (lambda m: m.run(TWO, without={(0, 0): np.ones(5)}), ValueError, "run: without[0, 0] must broadcast to the output of a head"),
        (lambda m: m.pad([]), ValueError, "pad: texts must hold at least one text, each an array of ids of shape (n,)."),
        (lambda m: m.pad([[2, 3], 2]), ValueError, "pad: texts must hold at least one text"),
        (lambda m: m.pad([["a"]]), TypeError, "pad: ids must"),
        (lambda m: m.pool(np.ones(3)), ValueError, "pool: states must have the shape (..., n, m)"),
        (lambda m: m.pool(np.ones((2, 3)), 4), ValueError, "pool: lengths must"),
        (lambda m: m.pool(np.ones((2, 3)), 0), ValueError, "pool: every length must be at least 1."),
        (lambda m: m.pool(np.ones((3, 2, 4)), [1, 2]), ValueError, "pool: lengths must have the shape (3,), one for each text; got (2,)."),
        (lambda m: m.pool(np.ones((2, 4)), [1, 2]), ValueError, "pool: lengths must have the shape (), one for each text; got (2,)."),
        (lambda m: m.pool([["a"]]), TypeError, "pool: states must be an array of real numbers"),
        (lambda m: m.words([99]), ValueError, "words: ids must"),
    ],
)  # fmt: skip
def test_what_a_model_refuses(call, error, words):
    with pytest.raises(error) as caught:
        call(model_of())
    assert str(caught.value).startswith(words)


def test_masks_that_a_function_of_the_reader_does_not_know():
    ids = np.array(TWO)
    with pytest.raises(ValueError, match=r"^run: mha takes no mask\. Run each text by itself"):
        model_of("mha").run(ids, mask=np.ones((2, 1, 1, 3), bool))
    for mask in (np.tri(3, dtype=bool), np.zeros(3)):
        with pytest.raises(ValueError, match=r"^sdpa takes no mask, so hidden keys are left out"):
            model_of("sdpa").run(ids, mask=mask)


@pytest.mark.parametrize("name", ["softmax", "sdpa", "mha", "layer_norm", "gelu"])
def test_what_a_function_returns_has_the_right_shape_and_becomes_the_models_dtype(name):
    for wrong in (lambda *args: args[0][..., :1], lambda *args: args[0].astype(int), lambda *args: None):
        with pytest.raises(ValueError, match=rf"^{name} must return an array of shape \("):
            load_pretrained(SMALL, **{name: wrong}).run([2, 5, 3], weights=name != "mha")
    if name in ("layer_norm", "gelu"):
        function = {"layer_norm": layer_norm, "gelu": gelu}[name]
        model = load_pretrained(SMALL, **{name: lambda x, *rest: function(x.astype(np.float64), *rest)})
        assert model.run([2, 5, 3])[0].dtype == np.float32
