"""Train the small writer from eight starts and let each read long texts with caches that forget, for chapter 10. By hand:

    python -m tools.recorded.writer_starts

It writes chapters/data/writer_starts.json. Start 0 is the writer of chapters/data/trained.npz; the others are trained
like it, two minutes each on one core.
"""

import json
from pathlib import Path

import numpy as np

from attnlib.masks import sliding_window_mask
from attnlib.multihead import merge_heads, split_heads
from attnlib.positions import rotary
from attnlib.softmax import softmax
from attnlib.training import encode, load_trained, mlp, rms_norm

DATA = Path(__file__).resolve().parents[2] / "chapters" / "data"
FILE = DATA / "writer_starts.json"
STARTS, LENGTH, TEXTS, BLOCK = range(8), 384, 24, 16
CACHES = {  # characters that are kept: the last, the first, and whether positions are counted within the cache
    "everything": (LENGTH, 0, False),
    "the last 64": (64, 0, False),
    "4 + 60, positions in the text": (60, 4, False),
    "4 + 60, positions in the cache": (60, 4, True),
}


def long_texts(alphabet, offset=0, length=LENGTH):
    """Pieces of the last tenth of the prose, which no writer has seen in its training: (TEXTS, length + 1) tokens."""
    tokens = encode((DATA / "prose.txt").read_text(encoding="ascii"), alphabet)
    tokens = tokens[len(tokens) * 9 // 10 + offset :]
    return np.array([tokens[at : at + length + 1] for at in range(0, TEXTS * length, length) if at + length < len(tokens)])


def read_text(writer, tokens, last, first=0, in_cache=False):
    """Logits, if every query sees the `last` characters and the `first` ones.

    With `in_cache`, a query meets the first characters at the position that it has in a cache of first + last rows.
    """
    place = np.arange(len(tokens))
    seen = sliding_window_mask(len(tokens), len(tokens), last) | np.tri(len(tokens), dtype=bool) & (place < first)
    meets = np.minimum(place, first + last - 1) if in_cache else place
    x = writer.params["tokens"][tokens]
    for layer in range(2):
        part = {name[2:]: array for name, array in writer.params.items() if name.startswith(f"{layer}.")}
        normal = rms_norm(x, part["attention_gain"])
        query, key, value = (split_heads(normal @ part[f"{name}_weight"], writer.heads) for name in ("query", "key", "value"))
        key, asks = rotary(key, place), rotary(query, meets)
        scores = np.where(place < first, asks @ key.mT, rotary(query, place) @ key.mT)
        weights = softmax(np.where(seen, scores / np.sqrt(query.shape[-1]), -np.inf))
        x = x + merge_heads(weights @ value) @ part["out_weight"]
        mlp_parts = (part[name] for name in ("up_weight", "up_bias", "down_weight", "down_bias"))
        x = x + mlp(rms_norm(x, part["mlp_gain"]), *mlp_parts)[0]
    return rms_norm(x, writer.params["gain"]) @ writer.params["unembedding"]


def losses(writer, text, *cache):
    """The loss at each character of a text."""
    logits = read_text(writer, text[:-1], *cache)
    logits = logits - logits.max(axis=-1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    return -logs[np.arange(len(text) - 1), text[1:]]


def measured(writer):
    """For each cache the mean loss of all texts in each block of characters."""
    found = {}
    for name, cache in CACHES.items():
        loss = np.mean([losses(writer, text, *cache) for text in long_texts(writer.alphabet)], axis=0)
        found[name] = dict(loss=np.round(loss.reshape(-1, BLOCK).mean(axis=-1), 3).tolist())
    return found


def in_half_precision(writer):
    """As the writer of the book is stored."""
    return writer._replace(params={name: array.astype(np.float16).astype(float) for name, array in writer.params.items()})


def main():
    from tools.recorded.trained_models import text

    found = []
    for start in STARTS:
        writer = in_half_precision(text(start)) if start else load_trained(DATA / "trained.npz", "text")
        found.append(dict(start=start, caches=measured(writer)))
        print(found[-1], flush=True)
    FILE.write_text(json.dumps(found) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
