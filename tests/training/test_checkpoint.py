"""attnlib.training.checkpoint: what is written comes back, a file that is not whole is said to be so; what ships is whole."""

from pathlib import Path

import numpy as np
import pytest

from attnlib.training import (
    Trained,
    accuracy,
    alphabet_of,
    cross_entropy,
    encode,
    induction_batch,
    init_transformer,
    load_trained,
    save_trained,
    text_batch,
    transformer,
)

DATA = Path(__file__).parents[2] / "chapters" / "data"


@pytest.fixture
def models(rng):
    alone = init_transformer(rng, vocabulary=5, n=7, m=6, heads=2, layers=1)
    whole = init_transformer(rng, vocabulary=3, m=4, heads=1, layers=2, positions="rotary", norm=True, hidden=5)
    return {"alone": Trained(alone, 2, "abcde"), "whole": Trained(whole, 1, "xy\n")}


@pytest.fixture
def stored(models, tmp_path):
    save_trained(tmp_path / "models.npz", models)
    return tmp_path / "models.npz"


@pytest.mark.parametrize("name", ["alone", "whole"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_written_comes_back_to_three_digits(models, stored, name, dtype):
    again = load_trained(stored, name, dtype=dtype)
    assert (again.heads, again.alphabet) == (models[name].heads, models[name].alphabet)
    assert again.params.keys() == models[name].params.keys()
    for key, array in again.params.items():
        assert array.dtype == dtype
        np.testing.assert_array_equal(array, models[name].params[key].astype(np.float16))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="load_trained: there is no file .*gone.npz with trained weights"):
        load_trained(tmp_path / "gone.npz", "alone")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.99])
def test_a_file_that_ends_too_early_is_damaged(stored, share):
    whole = stored.read_bytes()
    stored.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ValueError, match="load_trained: .*models.npz is damaged: "):
        load_trained(stored, "alone")


def test_a_byte_that_flipped_is_noticed(stored):
    whole = bytearray(stored.read_bytes())
    whole[whole.index(b"alone/tokens.npy") + 80] ^= 0xFF  # among the packed numbers
    stored.write_bytes(whole)
    with pytest.raises(ValueError, match="is damaged"):
        load_trained(stored, "alone")


def test_a_file_of_something_else_is_damaged(tmp_path):
    (tmp_path / "text.npz").write_text("weights\n")
    with pytest.raises(ValueError, match="is damaged"):
        load_trained(tmp_path / "text.npz", "alone")


def test_objects_are_never_unpacked(tmp_path):
    np.savez(tmp_path / "objects.npz", **{"alone/heads": np.array(1), "alone/tokens": np.array([{}], object)})
    with pytest.raises(ValueError, match="is damaged"):
        load_trained(tmp_path / "objects.npz", "alone")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda arrays: arrays.pop("alone/0.key_weight"), "missing: 0.key_weight"),
        (lambda arrays: arrays.pop("alone/heads"), "'heads'"),
        (lambda arrays: arrays.update({"alone/tokens": np.ones((5, 7))}), "the shapes in params"),
        (lambda arrays: arrays["alone/tokens"].fill(np.nan), "tokens holds numbers that are not finite"),
        (lambda arrays: arrays.update({"alone/alphabet": np.array("abcd")}), "a character for each of the 5 tokens"),
        (lambda arrays: arrays.update({"alone/heads": np.array(4)}), "heads"),
    ],
)  # fmt: skip
def test_a_model_that_is_not_whole_is_damaged(stored, change, said):
    with np.load(stored) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(stored, **arrays)
    with pytest.raises(ValueError, match="load_trained: .*is damaged: ") as raised:
        load_trained(stored, "alone")
    assert said in str(raised.value)


def test_a_model_of_another_name(stored):
    with pytest.raises(ValueError, match="holds no model 'text'; there are alone, whole"):
        load_trained(stored, "text")


def test_a_dtype_that_is_none(stored):
    with pytest.raises(TypeError, match="load_trained: dtype"):
        load_trained(stored, "alone", dtype=int)


def test_only_whole_models_are_written(models, tmp_path):
    path = tmp_path / "models.npz"
    with pytest.raises(TypeError, match="save_trained: models must be a dict"):
        save_trained(path, {"alone": models["alone"].params})
    with pytest.raises(ValueError, match="save_trained: params must hold"):
        save_trained(path, {"alone": models["alone"]._replace(params={"positions": np.ones((2, 2))})})
    large = models["alone"].params | {"tokens": np.full((5, 6), 7e4)}
    with pytest.raises(ValueError, match="alone/tokens holds a number that is too large for float16"):
        save_trained(path, {"alone": models["alone"]._replace(params=large)})
    assert not path.exists()


# --- what ships with the book -----------------------------------------------------------------------


def test_the_shipped_file_is_small():
    assert (DATA / "trained.npz").stat().st_size < 300_000


def test_the_shipped_model_knows_what_comes_next():
    model = load_trained(DATA / "trained.npz", "induction")
    batch = induction_batch(np.random.default_rng(4), b=64, n=24, vocabulary=20, shortest=5, longest=12)
    logits, _ = transformer(batch.tokens, model.params, heads=model.heads)
    assert accuracy(logits, batch.targets, keep=batch.keep) > 0.99


def test_the_shipped_model_can_spell():
    model, text = load_trained(DATA / "trained.npz", "text"), (DATA / "prose.txt").read_text(encoding="ascii")
    assert model.alphabet == alphabet_of(text)
    held_out = encode(text[-len(text) // 10 :], model.alphabet)
    batch = text_batch(np.random.default_rng(4), held_out, b=8, n=128)
    logits, _ = transformer(batch.tokens, model.params, heads=model.heads, positions="rotary")
    assert cross_entropy(logits, batch.targets)[0] < 1.6  # guessing evenly costs log 30 = 3.4
