"""The sizes of a model, from its config.json, and its vocabulary, from its tokenizer.json or vocab.txt."""

import json
from typing import NamedTuple

from attnlib.pretrained.wordpiece import WordPiece


class Sizes(NamedTuple):
    """The sizes of a BERT.

    Attributes
    ----------
    vocabulary : int
        Rows of the table of tokens.
    positions : int
        The most tokens a text may have.
    segments : int
        Rows of the table that tells a first text from a second.
    m : int
        Width of a token.
    hidden : int
        Hidden units of the feed-forward part.
    heads, layers : int
    epsilon : float
        Of the layer norms.
    """

    vocabulary: int
    positions: int
    segments: int
    m: int
    hidden: int
    heads: int
    layers: int
    epsilon: float


_NAMES = dict(
    vocabulary="vocab_size", positions="max_position_embeddings", segments="type_vocab_size", m="hidden_size",
    hidden="intermediate_size", heads="num_attention_heads", layers="num_hidden_layers",
)  # fmt: skip
# What else a config may say, and the one value of it that this library computes.
_ONLY = dict(model_type="bert", hidden_act="gelu", position_embedding_type="absolute", is_decoder=False)
_RULE = dict(type="BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True)
_PIECES = dict(type="WordPiece", unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=100)


def as_config(sizes):
    """What a config.json says of these sizes: the reverse of `read_config`."""
    config = {theirs: getattr(sizes, ours) for ours, theirs in _NAMES.items()}
    return config | {"layer_norm_eps": sizes.epsilon} | _ONLY


def read_config(path):
    """Return the `Sizes` of a config.json, and the ids of the tokens that the file of weights has rows for, or None.

    The key ``kept_tokens`` is our own. A release for the pages of the book keeps the rows of some tokens only, and lists
    their ids there; without it there is a row for every token.
    """
    config = _read_json(path)
    sizes = {}
    for ours, theirs in _NAMES.items():
        sizes[ours] = config.get(theirs)
        if type(sizes[ours]) is not int or sizes[ours] < 1:
            raise ValueError(f"load_pretrained: {path}: {theirs} must be an integer of at least 1; got {sizes[ours]!r}.")
    epsilon = config.get("layer_norm_eps")
    if not isinstance(epsilon, float) or not 0 < epsilon < 1:
        raise ValueError(f"load_pretrained: {path}: layer_norm_eps must be a number between 0 and 1; got {epsilon!r}.")
    if sizes["m"] % sizes["heads"]:
        raise ValueError(
            f"load_pretrained: {path}: hidden_size must be a multiple of num_attention_heads; "
            f"got {sizes['m']} and {sizes['heads']}."
        )
    _refuse_others(path, config, _ONLY)
    kept = config.get("kept_tokens")
    if kept is not None:
        whole = isinstance(kept, list) and all(type(i) is int and i >= 0 for i in kept) and len({*kept}) == len(kept)
        if not whole or len(kept) != sizes["vocabulary"]:
            raise ValueError(
                f"load_pretrained: {path}: kept_tokens must list {sizes['vocabulary']} different ids, as many as vocab_size."
            )
    return Sizes(**sizes, epsilon=epsilon), kept


def read_vocabulary(folder):
    """Return the `WordPiece` of a folder: of its tokenizer.json, or of a vocab.txt with a piece on each line."""
    path = folder / "tokenizer.json"
    if path.is_file():
        content = _read_json(path)
        parts = {part: content.get(part) or {} for part in ("normalizer", "pre_tokenizer", "model")}
        if not all(isinstance(part, dict) for part in parts.values()):
            raise ValueError(f"load_pretrained: {path} does not describe a tokenizer.")
        _refuse_others(path, parts["normalizer"], _RULE)
        _refuse_others(path, parts["pre_tokenizer"], dict(type="BertPreTokenizer"))
        _refuse_others(path, parts["model"], _PIECES)
        vocabulary = parts["model"].get("vocab")
    else:
        path = folder / "vocab.txt"
        if not path.is_file():
            raise FileNotFoundError(f"load_pretrained: there is neither tokenizer.json nor vocab.txt in {folder}.")
        vocabulary = {piece: i for i, piece in enumerate(_read_text(path).splitlines())}
    try:
        return WordPiece(vocabulary)
    except (TypeError, ValueError) as error:
        raise ValueError(f"load_pretrained: {path} is damaged: {str(error).removeprefix('WordPiece: ')}") from None


def _refuse_others(path, found, wanted):
    for key, value in wanted.items():
        if found.get(key, value) not in (value, None):  # null leaves it to the format's default, which is our value
            raise ValueError(f"load_pretrained: {path}: {key} must be {value!r}, all that is known here; got {found[key]!r}.")


def _read_text(path):
    if not path.is_file():
        raise FileNotFoundError(f"load_pretrained: there is no file {path}.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"load_pretrained: {path} is damaged: it is not UTF-8 text.") from None


def _read_json(path):
    text = _read_text(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
        raise ValueError(f"load_pretrained: {path} is damaged: it is not JSON ({error}).") from None
    if not isinstance(content, dict):
        raise ValueError(f"load_pretrained: {path} is damaged: it is not a JSON object.")
    return content
