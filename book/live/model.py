"""The trained model of a chapter as pages get it: two bytes a number, and the vectors of fewer words.

    release(folder, needed, used) -> {name: bytes}                    the three files of `attnlib.pretrained`, smaller
    parts(files)                  -> {name: [(name, bytes), ...]}     in pieces that every browser's cache takes

Weights become float16. The table of word vectors is half of the model, and it keeps only the rows that the chapter needs and
those of common tokens; `config.json` lists their ids as `kept_tokens`. The tokenizer stays whole. So a page cuts each word into
the same tokens, with the same ids, as everywhere else, and can name a word whose vector it does not have.
"""

import html
import json
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from attnlib.pretrained import WordPiece, read_safetensors, write_safetensors
from tools.notebooks import slow_cells

#: What a cell says that needs the model. It is read by Python here, and by JavaScript in the page.
NEEDS = r"\b(?:load_pretrained|read_safetensors)\s*\(|\bminilm\b"
FOLDER = "/course/_vendor/minilm"  # where the page's Python finds it: the place is that of the repository
WORDS = "embeddings.word_embeddings.weight"
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
COMMON = 2_000  # tokens from the front of the vocabulary, where the common ones stand
OFTEN = 3  # times that the book has to use a token that is not so common
LARGEST = 4_000_000  # bytes of a part: the caches of private windows take nothing much larger
DATA = re.compile(r"[\w-]+\.(?:json|txt|toml|csv|tsv)\b")


def cells_that_need_it(cells):
    """Which cells of a page, by number from 1, call for the model, or for a name that only such cells have made.

    `cells` holds the HTML of their code.
    """
    found, missing = [], set()
    for number, cell in enumerate(cells, start=1):
        source = html.unescape(re.sub("<[^>]+>", "", cell))
        try:
            made, needed = slow_cells.names(source)
        except SyntaxError:  # a cell that is to show one
            continue
        if re.search(NEEDS, source) or needed & missing:
            found.append(number)
            missing |= made
        else:
            missing -= made
    return found


def texts(chapters, names):
    """What pages need, and what the book uses: the texts of the notebooks `names` with their data, and of every page."""
    needed = []
    for name in names:
        if (path := chapters / f"{name}.ipynb").is_file():
            said = path.read_text(encoding="utf-8")
            found = {chapters / "data" / data for data in DATA.findall(said)}
            needed += [_unpacked(said), *(data.read_text(encoding="utf-8") for data in sorted(found) if data.is_file())]
    used = [_unpacked(path.read_text(encoding="utf-8")) for path in sorted(chapters.glob("*.ipynb"))]
    return needed, used + [path.read_text(encoding="utf-8") for path in sorted(chapters.glob("*.md"))]


def _unpacked(notebook):
    """Text and code of a notebook's cells, and what the cells print."""
    cells = json.loads(notebook)["cells"]
    printed = [output["text"] for cell in cells for output in cell.get("outputs", ()) if "text" in output]
    return "\n".join("".join(part) for part in [*(cell["source"] for cell in cells), *printed])


def release(folder, needed, used=()):
    """The files of the model in `folder`, as small as pages get them.

    They keep every token of the texts `needed`, those that `used` has often, and the most common ones.
    """
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    tokenizer = (folder / TOKENIZER).read_bytes()
    kept = kept_tokens(WordPiece(json.loads(tokenizer)["model"]["vocab"]), needed, used)
    arrays = read_safetensors(folder / WEIGHTS)
    arrays[WORDS] = arrays[WORDS][kept]
    small = {name: array.astype(np.float16) if array.dtype.kind == "f" else array for name, array in arrays.items()}
    with tempfile.TemporaryDirectory() as place:
        write_safetensors(Path(place) / WEIGHTS, small)
        weights = (Path(place) / WEIGHTS).read_bytes()
    config |= {"vocab_size": len(kept), "kept_tokens": kept}
    return {CONFIG: (json.dumps(config) + "\n").encode(), TOKENIZER: tokenizer, WEIGHTS: weights}


def kept_tokens(pieces, needed, used=()):
    """The ids whose vectors stay, in order."""
    by_id = sorted((i, piece) for piece, i in pieces.vocabulary.items())
    special = {i for i, piece in by_id if re.fullmatch(r"\[(?!unused)\w+\]", piece)}
    letters = {i for i, piece in by_id if re.fullmatch(r"(?:##)?[!-~]", piece)}
    common = [i for i, piece in by_id if len(piece.removeprefix("##")) > 1 and not piece.startswith("[")][:COMMON]
    counted = Counter(piece for text in used for piece in pieces.pieces(text))
    found = {piece for text in needed for piece in pieces.pieces(text)} | {piece for piece, times in counted.items() if times >= OFTEN}
    return sorted(special | letters | {*common} | {pieces.vocabulary[piece] for piece in found})


def parts(files):
    """Each file in parts of at most LARGEST bytes.

    The word vectors end with a part of their own: the others stay the same, and in a reader's cache, when the words of
    the chapter change.
    """
    found = {}
    for name, data in files.items():
        end = _end_of_words(data) if name == WEIGHTS else len(data)
        pieces = [whole[at : at + LARGEST] for whole in (data[:end], data[end:]) for at in range(0, len(whole), LARGEST)]
        stem, _, ending = name.rpartition(".")
        names = [name] if len(pieces) == 1 else [f"{stem}-{number}.{ending}" for number in range(1, len(pieces) + 1)]
        found[name] = list(zip(names, pieces, strict=True))
    return found


def _end_of_words(weights):
    length = int.from_bytes(weights[:8], "little")
    return 8 + length + json.loads(weights[8 : 8 + length])[WORDS]["data_offsets"][1]
