"""attnlib.pretrained.load_pretrained: what is missing, damaged, or of another kind is named in one sentence."""

import json
import pickle
import re

import numpy as np
import pytest
from pretrained_cases import FILES, SMALL, copied

from attnlib.pretrained import load_pretrained, read_safetensors, write_safetensors, write_tiny

NORM = "embeddings.LayerNorm.weight"


@pytest.fixture
def folder(tmp_path):
    return copied(tmp_path)


def changed(folder, name, **values):
    content = json.loads((folder / name).read_text(encoding="utf-8"))
    content = {key: value for key, value in (content | values).items() if value is not Ellipsis}
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


def rewritten(folder, change):
    arrays = dict(read_safetensors(folder / "model.safetensors"))
    change(arrays)
    write_safetensors(folder / "model.safetensors", arrays)


def refused(folder, words, kind=ValueError):
    with pytest.raises(kind, match=re.escape(words)) as error:
        load_pretrained(folder)
    assert "\n" not in str(error.value) and str(error.value).startswith(("load_pretrained: ", "read_safetensors: "))


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(folder, name):
    (folder / name).unlink()
    refused(folder, "there is n", FileNotFoundError)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b"1" * 5000], ids=["empty", "cut", "list", "no text", "deep", "long"])
def test_a_file_that_is_no_json_object(folder, name, content):
    (folder / name).write_bytes(content)
    refused(folder, f"{name} is damaged: it is not ")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (dict(hidden_size=...), "hidden_size must be an integer of at least 1; got None"),
        (dict(num_hidden_layers=0), "num_hidden_layers must be an integer of at least 1; got 0"),
        (dict(num_hidden_layers=True), "num_hidden_layers must be an integer of at least 1; got True"),
        (dict(num_hidden_layers=3), "does not hold encoder.layer.2.attention.self.query.weight"),
        (dict(num_attention_heads=5), "hidden_size must be a multiple of num_attention_heads; got 12 and 5"),
        (dict(layer_norm_eps=0), "layer_norm_eps must be a number between 0 and 1; got 0"),
        (dict(hidden_act="relu"), "hidden_act must be 'gelu', all that is known here; got 'relu'"),
        (dict(is_decoder=True), "is_decoder must be False, all that is known here; got True"),
        (dict(layer_norm_eps=float("nan")), "layer_norm_eps must be a number between 0 and 1; got nan"),
        (dict(model_type="gpt2"), "model_type must be 'bert', all that is known here; got 'gpt2'"),
        (dict(position_embedding_type="relative_key"), "position_embedding_type must be 'absolute'"),
        (dict(intermediate_size=21), "must have the shape (21, 12) of config.json; got (20, 12)"),
        (dict(vocab_size=25), "the 24 pieces of the vocabulary in"),
        (dict(kept_tokens=[1, 2]), "kept_tokens must list 24 different ids, as many as vocab_size"),
        (dict(kept_tokens=[0] * 24), "kept_tokens must list 24 different ids, as many as vocab_size"),
        (dict(kept_tokens=[*range(1, 25)]), "do not fit the 24 tokens that config.json says the model knows"),
    ],
)
def test_a_config_that_does_not_fit(folder, values, words):
    changed(folder, "config.json", **values)
    refused(folder, words)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (dict(model=...), "is damaged: vocabulary must be a dict from pieces to integers"),
        (dict(model=3), "tokenizer.json does not describe a tokenizer"),
        (dict(model={"type": "BPE"}), "type must be 'WordPiece', all that is known here; got 'BPE'"),
        (dict(normalizer={"type": "BertNormalizer", "lowercase": False}), "lowercase must be True, all that is known here; got False"),
        (dict(normalizer={"type": "BertNormalizer", "strip_accents": False}), "strip_accents must be True, all that is known here; got False"),
        (dict(model={"vocab": {"a": 0}}), "the vocabulary must hold [PAD], [UNK], [CLS], [SEP], [MASK]; [PAD] is missing"),
        (dict(model={"vocab": {"a": 0, "b": 0}}), "each piece of the vocabulary must have an id of its own"),
        (dict(model={"vocab": {"a": "0"}}), "vocabulary must be a dict from pieces to integers"),
    ],
)
def test_a_tokenizer_that_does_not_fit(folder, values, words):
    changed(folder, "tokenizer.json", **values)
    refused(folder, words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda arrays: arrays.pop(NORM), f"does not hold {NORM}"),
        (lambda arrays: arrays.update({NORM: np.ones(13, np.float32)}), f"{NORM} must have the shape (12,) of config.json; got (13,)"),
        (lambda arrays: arrays.update({NORM: np.ones((1, 12), np.float32)}), f"{NORM} must have the shape (12,) of config.json"),
        (lambda arrays: arrays.update({NORM: np.ones(12, np.int32)}), f"{NORM} must hold floats; got int32"),
        (lambda arrays: arrays.update({NORM: np.full(12, np.nan, np.float32)}), f"{NORM} holds numbers that are not finite"),
    ],
)
def test_an_array_that_does_not_fit(folder, change, words):
    rewritten(folder, change)
    refused(folder, words)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_weights_that_are_cut_off(folder, share):
    path = folder / "model.safetensors"
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    refused(folder, "model.safetensors is damaged: ")


def test_vocab_txt_in_the_place_of_the_tokenizer(folder):
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.get)) + "\n", encoding="utf-8")
    (folder / "tokenizer.json").unlink()
    text = "The cat sat, because it was tired."
    assert load_pretrained(folder).tokenize(text).tolist() == load_pretrained(SMALL).tokenize(text).tolist()


def test_a_cut_vocabulary_computes_the_same_and_names_what_it_lacks(folder):
    kept = [0, 1, 2, 3, 4, 5, 6, 9, 18, 22]  # among them cat, sat and the, not dog
    table = "embeddings.word_embeddings.weight"
    rewritten(folder, lambda arrays: arrays.update({table: arrays[table][kept]}))
    changed(folder, "config.json", vocab_size=len(kept), kept_tokens=kept)
    whole, cut = load_pretrained(SMALL), load_pretrained(folder)
    known = [piece for piece, i in whole.tokenizer.vocabulary.items() if i in kept and piece.isalpha()]
    text = " ".join(known)
    assert len(known) >= 3 and cut.tokenize(text).tolist() == whole.tokenize(text).tolist()
    np.testing.assert_array_equal(cut.embed([text]), whole.embed([text]))
    assert cut.words(cut.tokenize(text)) == ["[CLS]", *known, "[SEP]"]
    with pytest.raises(ValueError, match=r"tokenize: this copy of the model keeps 10 tokens of its vocabulary; .*street"):
        cut.tokenize(f"{known[0]} street")
    with pytest.raises(ValueError, match="run: this copy of the model does not keep the token 8"):
        cut.run([2, 8, 3])


@pytest.mark.parametrize(
    ("ids", "kind", "words"),
    [
        ([2, 99, 3], ValueError, "run: ids must be integers from 0 to 23; got 99"),
        ([2.0, 3.0], TypeError, "run: ids must be an array of integers; got float64"),
        ([], ValueError, "run: ids must have the shape (..., n), with n from 1 to 16; got (0,)"),
        ([5] * 17, ValueError, "run: ids must have the shape (..., n), with n from 1 to 16; got (17,)"),
    ],
)
def test_ids_that_cannot_be_run(ids, kind, words):
    with pytest.raises(kind, match=re.escape(words)):
        load_pretrained(SMALL).run(ids)


def test_other_arguments():
    model = load_pretrained(SMALL)
    assert len(model.tokenize("cat " * 40)) == 16  # the end is cut off
    for call, kind, words in (
        (lambda: model.tokenize(3), TypeError, "tokenize: text must be a string; got int"),
        (lambda: model.embed("one text"), TypeError, "embed: texts must be a list of strings; got str"),
        (lambda: model.head_means([]), ValueError, "head_means: texts must hold at least one text"),
        (lambda: model.pad([]), ValueError, "pad: texts must hold at least one text"),
        (lambda: model.run([2, 3], without={(2, 0)}), ValueError, "without names (2, 0); there are 2 layers of 3 heads, from 0"),
        (lambda: model.run([2, 3], layers=3), ValueError, "run: layers must be from 1 to 2; got 3."),
        (lambda: model.run([2, 3], layers=0), ValueError, "run: layers must be from 1 to 2; got 0."),
        (lambda: model.run([2, 3], layers=True), TypeError, "run: layers must be an integer; got True."),
        (lambda: model.run([2, 3], mask=np.ones((1, 1, 3), bool)), ValueError, "run: mask must broadcast to the shape (..., heads, q, k)"),
        (lambda: model.pool(np.ones((1, 2, 3)), [0]), ValueError, "pool: every length must be at least 1"),
        (lambda: model.pool(np.ones((3, 2, 4)), [1, 2]), ValueError, "pool: lengths must have the shape (3,), one for each text; got (2,)"),
        (lambda: model.pool(np.ones(3)), ValueError, "pool: states must have the shape (..., n, m); got (3,)"),
        (lambda: load_pretrained(SMALL, dtype=int), TypeError, "load_pretrained: dtype must be a float dtype; got int64"),
    ):
        with pytest.raises(kind, match=re.escape(words)):
            call()


def test_a_tiny_model_is_the_same_for_the_same_seed(tmp_path):
    for name in "ab":
        write_tiny(tmp_path / name, np.random.default_rng(3))
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in FILES)
    write_tiny(tmp_path / "c", np.random.default_rng(3), np.float16)
    vectors = [load_pretrained(tmp_path / name).embed(["a cat"]) for name in "ac"]
    assert 0 < np.abs(vectors[0] - vectors[1]).max() < 0.01


def test_the_file_of_weights_is_never_unpickled(folder):
    """A pickle in its place is a damaged file, whatever it would do."""

    class Harm:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was executed",))

    (folder / "model.safetensors").write_bytes(pickle.dumps(Harm()))
    refused(folder, "model.safetensors is damaged: ")
