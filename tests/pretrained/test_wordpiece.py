"""attnlib.pretrained.wordpiece: the ids that the library `tokenizers` gave, for texts of every kind and for every character."""

import json
import unicodedata

import numpy as np
import pytest
from pretrained_cases import REAL, ROOT, answers, needs_model

from attnlib.pretrained import WordPiece, words
from attnlib.pretrained.config import read_vocabulary

RECORDED = ROOT / "tests" / "recorded" / "wordpiece.npz"
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##able", "##a", "##b", "unab", "able", "a", "##" + "a" * 99)
CHANGED = {0x166D, 0x1734, 0x1885, 0x1886}  # Unicode has put them into another category since the library's tables were made


@pytest.fixture
def small():
    return WordPiece({piece: i for i, piece in enumerate(PIECES)})


def recorded(start=""):
    found = answers(RECORDED)
    texts = json.loads(found["texts"].tobytes())
    return list(zip(texts, np.split(found[f"{start}ids"], np.cumsum(found[f"{start}lengths"])[:-1]), strict=True))


@needs_model
@pytest.mark.parametrize(("start", "limit"), [("", None), ("short_", 8)])
def test_every_text_has_the_recorded_ids(start, limit):
    rule, cases = read_vocabulary(REAL), recorded(start)
    assert len(cases) >= 1000 and len(set(text for text, _ in cases)) >= 1000
    wrong = [text for text, ids in cases if rule.encode(text, limit) != ids.tolist()]
    assert wrong == []


@pytest.mark.thorough
def test_every_character_is_treated_as_recorded():
    """Of characters newer than Unicode 3.2, Python and the library may know different things, each from its own tables."""
    kinds, wrong = answers(RECORDED)["kinds"], set()
    for code in range(0x110000):
        if unicodedata.ucd_3_2_0.category(chr(code)) not in ("Cn", "Cs"):
            found = words(f"a{chr(code)}b")
            kind = {1: 0 if found == ["ab"] else 3, 2: 1, 3: 2}[len(found)]
            if kind != kinds[code]:
                wrong.add(code)
    assert wrong <= CHANGED


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("unable", ["[UNK]"]),  # un and ##able would do, but unab is longer, and nothing continues with le
        ("unab", ["unab"]),
        ("unaba", ["unab", "##a"]),
        ("una b", ["un", "##a", "[UNK]"]),
        ("ABLE! able", ["able", "[UNK]", "able"]),
        ("a[MASK]b [SEP]", ["a", "[MASK]", "[UNK]", "[SEP]"]),
        ("[mask]", ["[UNK]"] * 3),
        ("a" * 100, ["a", "##" + "a" * 99]),
        ("a" * 101, ["[UNK]"]),
        ("", []),
    ],
)
def test_longest_piece_first(small, text, pieces):
    assert small.pieces(text) == pieces


def test_limit_and_special_tokens(small):
    assert small.encode("a able a") == [2, 11, 10, 11, 3]
    assert small.encode("a able a", 4) == [2, 11, 10, 3] and small.encode("", 2) == [2, 3] and small.encode("a", 2) == [2, 3]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ångström's", ["angstrom", "'", "s"]),
        ("x=$5+y", ["x", "=", "$", "5", "+", "y"]),
        ("ΣΑΣ", ["σασ"]),
        ("日本x", ["日", "本", "x"]),
        ("a\u200bb\x00c\td\u00a0e", ["abc", "d", "e"]),
    ],
)
def test_words(text, found):
    assert words(text) == found


def test_errors(small):
    with pytest.raises(TypeError, match="WordPiece: text must be a string; got int"):
        small.pieces(3)
    with pytest.raises(TypeError, match="WordPiece: vocabulary must be a dict from pieces to integers"):
        WordPiece(["a"])
    with pytest.raises(ValueError, match="each piece of the vocabulary must have an id of its own"):
        WordPiece({piece: 0 for piece in PIECES})
    with pytest.raises(ValueError, match=r"\[MASK\] is missing"):
        WordPiece({piece: i for i, piece in enumerate(PIECES[:4])})
