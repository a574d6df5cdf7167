"""attnlib.pretrained on the trained model itself: what transformers answered, and what its heads do."""

import numpy as np
import pytest
from array_tools import close
from pretrained_cases import REAL, REAL_ANSWERS, answers, needs_model, real

from attnlib.masks import padding_mask
from attnlib.pretrained import load_pretrained, read_safetensors, write_safetensors
from attnlib.pretrained.arrays import expected_shapes
from tools.recorded.pronoun_heads import pairs

pytestmark = needs_model
RECORDED = answers(REAL_ANSWERS)
TEXTS = RECORDED["sentences"].tolist()
SOME = slice(None, None, 384 // RECORDED["0/states"].shape[-1])  # the features that were stored
# In float64 but for the last digits; in float32 at most twice as far away as transformers itself in float32.
TOLERANCE = {np.float64: 1e-13, np.float32: 2 * RECORDED["float32_error"].max()}


@pytest.fixture(params=TOLERANCE, ids=lambda dtype: dtype.__name__)
def dtype(request):
    return request.param


def test_what_was_recorded_covers_the_model():
    assert len(TEXTS) == 4 and any(not text.isascii() for text in TEXTS)
    for number in range(4):
        n = len(RECORDED[f"{number}/ids"])
        assert RECORDED[f"{number}/states"].shape == (7, n, 16) and RECORDED[f"{number}/weights"].shape == (6, 12, n, n)
    assert TOLERANCE[np.float32] < 1e-5


@pytest.mark.parametrize("number", range(4))
def test_a_text_alone(number, dtype):
    model = real(dtype)
    ids = model.tokenize(TEXTS[number])
    np.testing.assert_array_equal(ids, RECORDED[f"{number}/ids"])
    inside = model.inside(ids)
    assert abs(inside.states[..., SOME] - RECORDED[f"{number}/states"]).max() < TOLERANCE[dtype]
    assert abs(inside.weights - RECORDED[f"{number}/weights"]).max() < TOLERANCE[dtype]


def test_padded_texts_and_their_vectors(dtype):
    model = real(dtype)
    ids, lengths = model.pad([model.tokenize(text) for text in TEXTS])
    np.testing.assert_array_equal(ids, RECORDED["padded/ids"])
    inside = model.inside(ids, mask=padding_mask(lengths[:, np.newaxis], ids.shape[1]))
    assert abs(inside.states[..., SOME] - RECORDED["padded/states"]).max() < TOLERANCE[dtype]
    assert abs(inside.weights[-1, ..., :2, :] - RECORDED["padded/weights"]).max() < TOLERANCE[dtype]
    vectors = model.embed(TEXTS)
    assert abs(vectors - RECORDED["vectors"]).max() < TOLERANCE[dtype]
    close(model.pool(inside.states[:, -1], lengths), vectors, 1e-5 if dtype == np.float32 else 1e-13)


def test_the_padding_must_be_hidden():
    """Or the vectors move by far more than any rounding."""
    model = real()
    ids, lengths = model.pad([model.tokenize(text) for text in TEXTS])
    open_to_all = model.pool(model.run(ids, weights=False)[0], lengths)
    assert np.vecdot(open_to_all, RECORDED["vectors"])[lengths < lengths.max()].max() < 0.99


def test_the_file_holds_what_a_bert_of_these_sizes_has_and_a_pooler():
    model, stored = real(), read_safetensors(REAL / "model.safetensors")
    more = {name for name in stored if stored[name].dtype.kind == "f"} - set(expected_shapes(model.sizes))
    assert more == {"pooler.dense.weight", "pooler.dense.bias"}
    assert sum(stored[name].size for name in expected_shapes(model.sizes)) + 384 * 385 == 22_713_216


def test_float16_moves_the_numbers_little(tmp_path):
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((REAL / name).read_bytes())
    stored = read_safetensors(REAL / "model.safetensors")
    write_safetensors(tmp_path / "model.safetensors", {name: stored[name].astype(np.float16) for name in expected_shapes(real().sizes)})
    half = load_pretrained(tmp_path)
    likeness = np.vecdot(half.embed(TEXTS), RECORDED["vectors"])
    assert 0.9999 < likeness.min() < 1 - 1e-9


def test_similar_texts_have_similar_vectors():
    texts = [TEXTS[0], TEXTS[1], "The dog slept on the carpet", "The stock market fell sharply today"]
    cat, kitten, dog, market = real().embed(texts) @ real().embed(texts)[0]
    assert cat > kitten > dog > market and kitten > 0.6 and market < 0.2


# --- heads ----------------------------------------------------------------------------------------


STARTS = [1, *(pytest.param(start, marks=pytest.mark.thorough) for start in range(2, 24, 3))]


@pytest.fixture(scope="module", params=STARTS)
def sample(request):
    """The weights for 16 sentences of the pairs, each from another template; no two samples share one."""
    model = real()
    return [model.run(model.tokenize(row["sentence"]))[1] for row in pairs()[request.param :: 24]]


def mean(sample, read):
    return np.mean([read(weights) for weights in sample], axis=0)


def test_head_2_of_layer_0_looks_one_token_back(sample):
    before = mean(sample, lambda weights: np.diagonal(weights, -1, -2, -1).mean(axis=-1))
    assert before[0, 2] > 0.999 and np.delete(before.ravel(), 2).max() < 0.4
    after = mean(sample, lambda weights: np.diagonal(weights, 1, -2, -1).mean(axis=-1))
    assert 0.5 < after.max() < 0.65  # no head looks one token ahead as firmly


def test_almost_half_of_the_heads_give_more_than_half_of_their_weight_to_the_first_token(sample):
    on_each = [mean(sample, lambda weights, place=place: weights[..., place].mean(axis=-1)) for place in range(4)]
    assert 28 <= (on_each[0] > 0.5).sum() <= 34
    assert max(on_word.max() for on_word in on_each[1:]) < 0.5  # the control: no head, on any of the words behind it
