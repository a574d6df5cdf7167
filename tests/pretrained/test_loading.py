"""attnlib.pretrained.loading and config: a folder that is whole gives a model, and every fault in one has its sentence."""

import json

import numpy as np
import pytest
from pretrained_cases import SMALL, copied

from attnlib.pretrained import load_pretrained, read_safetensors, write_safetensors, write_tiny
from attnlib.pretrained.config import Sizes, as_config, read_config

BIAS = "encoder.layer.1.intermediate.dense.bias"


@pytest.fixture
def folder(tmp_path):
    return copied(tmp_path)


def refused(folder, error=ValueError, **options):
    with pytest.raises(error) as caught:
        load_pretrained(folder, **options)
    said = str(caught.value)
    assert "\n" not in said and said.endswith(".")
    return said.replace(str(folder), "FOLDER")


def change(path, **changes):
    """Other values in a JSON file; None removes a key."""
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def test_a_folder_by_its_name_or_as_a_path(folder):
    for name in (folder, str(folder)):
        model = load_pretrained(name)
        assert model.sizes == Sizes(24, positions=16, segments=2, m=12, hidden=20, heads=3, layers=2, epsilon=1e-12)
        assert model.dtype == np.float32


def test_a_vocabulary_as_text(folder):
    pieces = load_pretrained(folder).tokenizer.by_id
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("".join(f"{pieces[i]}\n" for i in range(24)), encoding="utf-8")
    assert load_pretrained(folder).tokenizer.by_id == pieces


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_tiny_model_of_any_dtype(tmp_path, rng, dtype):
    write_tiny(tmp_path / "new" / "folder", rng, dtype)
    model = load_pretrained(tmp_path / "new" / "folder", dtype=np.float64)
    assert read_safetensors(tmp_path / "new" / "folder" / "model.safetensors")[BIAS].dtype == dtype
    states, weights = model.run(model.tokenize("The zebra, at last."))
    assert np.isfinite(states).all() and "[UNK]" not in model.words(model.tokenize("The quick brown fox jumps over a lazy dog's mat."))
    np.testing.assert_allclose(weights.sum(axis=-1), 1)
    with pytest.raises(TypeError, match="^write_tiny: rng must be a numpy.random.Generator"):
        write_tiny(tmp_path, 3)


def test_sizes_written_are_sizes_read(tmp_path):
    sizes = Sizes(9, positions=8, segments=2, m=6, hidden=12, heads=2, layers=1, epsilon=1e-5)
    (tmp_path / "config.json").write_text(json.dumps(as_config(sizes)))
    assert read_config(tmp_path / "config.json") == (sizes, None)


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    said = refused(folder, FileNotFoundError)
    assert said in (
        f"load_pretrained: there is no file FOLDER/{name}.",
        f"read_safetensors: there is no file FOLDER/{name}.",
        "load_pretrained: there is neither tokenizer.json nor vocab.txt in FOLDER.",
    )
    assert name in said


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is not JSON"),
        (b'{"a": 1', "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"1" * 5000, "it is not JSON"),
        (b"[]", "it is not a JSON object."),
        (b"\xff\xfe{}", "it is not UTF-8 text."),
    ],
)
def test_a_file_that_is_not_json(folder, name, data, words):
    (folder / name).write_bytes(data)
    assert refused(folder).startswith(f"load_pretrained: FOLDER/{name} is damaged: {words}")


def test_weights_cut_off(folder):
    data = (folder / "model.safetensors").read_bytes()
    for size in (0, 7, 8, 100, len(data) // 2, len(data) - 1):
        (folder / "model.safetensors").write_bytes(data[:size])
        assert refused(folder).startswith("read_safetensors: FOLDER/model.safetensors is damaged: ")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(hidden_size=None), "hidden_size must be an integer of at least 1; got None."),
        (dict(hidden_size="12"), "hidden_size must be an integer of at least 1; got '12'."),
        (dict(num_hidden_layers=0), "num_hidden_layers must be an integer of at least 1; got 0."),
        (dict(num_hidden_layers=True), "num_hidden_layers must be an integer of at least 1; got True."),
        (dict(vocab_size=24.0), "vocab_size must be an integer of at least 1; got 24.0."),
        (dict(num_attention_heads=5), "hidden_size must be a multiple of num_attention_heads; got 12 and 5."),
        (dict(layer_norm_eps=None), "layer_norm_eps must be a number between 0 and 1; got None."),
        (dict(layer_norm_eps=float("nan")), "layer_norm_eps must be a number between 0 and 1; got nan."),
        (dict(layer_norm_eps=-1e-12), "layer_norm_eps must be a number between 0 and 1; got -1e-12."),
        (dict(model_type="gpt2"), "model_type must be 'bert', all that is known here; got 'gpt2'."),
        (dict(hidden_act="gelu_new"), "hidden_act must be 'gelu', all that is known here; got 'gelu_new'."),
        (dict(is_decoder=True), "is_decoder must be False, all that is known here; got True."),
        (dict(position_embedding_type="relative_key"), "position_embedding_type must be 'absolute', all that is known here"),
        (dict(kept_tokens=[0, 1]), "kept_tokens must list 24 different ids, as many as vocab_size."),
        (dict(kept_tokens=[0] * 24), "kept_tokens must list 24 different ids, as many as vocab_size."),
        (dict(kept_tokens=[-1, *range(23)]), "kept_tokens must list 24 different ids, as many as vocab_size."),
        (dict(kept_tokens=[[]] * 24), "kept_tokens must list 24 different ids, as many as vocab_size."),
    ],
)  # fmt: skip
def test_a_config_of_another_model(folder, changes, words):
    change(folder / "config.json", **changes)
    assert refused(folder).startswith(f"load_pretrained: FOLDER/config.json: {words}")


@pytest.mark.parametrize(
    ("part", "changes", "words"),
    [
        ("normalizer", dict(lowercase=False), ": lowercase must be True, all that is known here; got False."),
        ("normalizer", dict(strip_accents=False), ": strip_accents must be True, all that is known here; got False."),
        ("normalizer", dict(type="NFC"), ": type must be 'BertNormalizer', all that is known here; got 'NFC'."),
        ("pre_tokenizer", dict(type="Whitespace"), ": type must be 'BertPreTokenizer', all that is known here; got 'Whitespace'."),
        ("model", dict(type="BPE"), ": type must be 'WordPiece', all that is known here; got 'BPE'."),
        ("model", dict(continuing_subword_prefix="@@"), ": continuing_subword_prefix must be '##', all that is known here; got '@@'."),
        ("model", dict(vocab=["a"]), " is damaged: vocabulary must be a dict from pieces to integers."),
        ("model", dict(vocab={"a": 0}), " is damaged: the vocabulary must hold [PAD], [UNK], [CLS], [SEP], [MASK]; [PAD] is missing."),
    ],
)  # fmt: skip
def test_a_tokenizer_of_another_kind(folder, part, changes, words):
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps(content | {part: content[part] | changes}))
    assert refused(folder) == f"load_pretrained: FOLDER/tokenizer.json{words}"


def test_a_tokenizer_that_is_no_description(folder):
    change(folder / "tokenizer.json", model=[1])
    assert refused(folder) == "load_pretrained: FOLDER/tokenizer.json does not describe a tokenizer."


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda array: None, f" does not hold {BIAS}."),
        (lambda array: array[:-1], f": {BIAS} must have the shape (20,) of config.json; got (19,)."),
        (lambda array: array[np.newaxis], f": {BIAS} must have the shape (20,) of config.json; got (1, 20)."),
        (lambda array: array.astype(np.int32), f": {BIAS} must hold floats; got int32."),
        (lambda array: np.where(np.arange(20) == 3, np.nan, array), f": {BIAS} holds numbers that are not finite."),
        (lambda array: np.where(np.arange(20) == 3, np.inf, array), f": {BIAS} holds numbers that are not finite."),
    ],
)  # fmt: skip
def test_an_array_that_does_not_fit(folder, spoil, words):
    arrays = dict(read_safetensors(folder / "model.safetensors"))
    arrays[BIAS] = spoil(arrays[BIAS])
    write_safetensors(folder / "model.safetensors", {name: array for name, array in arrays.items() if array is not None})
    assert refused(folder) == f"load_pretrained: FOLDER/model.safetensors{words}"


def test_transposed_weights_are_seen_where_they_are_not_square(folder):
    arrays = dict(read_safetensors(folder / "model.safetensors"))
    name = "encoder.layer.0.output.dense.weight"
    arrays[name] = arrays[name].T
    write_safetensors(folder / "model.safetensors", arrays)
    assert refused(folder).endswith(f"{name} must have the shape (12, 20) of config.json; got (20, 12).")


def test_a_vocabulary_that_does_not_fit_the_weights(folder):
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = content["model"]["vocab"]
    for changed in ({**vocabulary, "more": 24}, {**vocabulary, "street": 99}, {key: i for key, i in vocabulary.items() if key != "street"}):
        content["model"]["vocab"] = changed
        (folder / "tokenizer.json").write_text(json.dumps(content))
        assert refused(folder).startswith(f"load_pretrained: the {len(changed)} pieces of the vocabulary in FOLDER do not fit the 24 tokens")
    kept = sorted(set(range(25)) - {vocabulary["[MASK]"]})
    content["model"]["vocab"] = {**vocabulary, "more": 24}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    change(folder / "config.json", kept_tokens=kept)  # the special pieces have to be kept
    assert refused(folder).startswith("load_pretrained: the 25 pieces of the vocabulary in FOLDER do not fit the 24 tokens")


@pytest.mark.parametrize("name", ["softmax", "sdpa", "mha", "layer_norm", "gelu"])
def test_a_function_that_is_none(name):
    assert refused(SMALL, TypeError, **{name: 3}) == f"load_pretrained: {name} must be a function; got int."
    if name in ("layer_norm", "gelu"):
        assert refused(SMALL, TypeError, **{name: None}) == f"load_pretrained: {name} must be a function; got NoneType."


def test_a_dtype_that_is_none():
    with pytest.raises(TypeError, match="^load_pretrained: dtype must"):
        load_pretrained(SMALL, dtype=int)


def test_the_file_of_weights_is_never_unpickled(folder):
    """A pickle in its place is a damaged file, whatever it would do."""
    import pickle

    class Harm:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was executed",))

    (folder / "model.safetensors").write_bytes(pickle.dumps(Harm()))
    assert refused(folder).startswith("read_safetensors: FOLDER/model.safetensors is damaged: ")
