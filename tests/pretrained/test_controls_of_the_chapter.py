"""The controls of chapter 13: a longer text, another word, a second noun that fits, and the whole model."""

import re

import numpy as np
import pytest

from attnlib.pretrained import layer_norm, load_pretrained
from tools.notebooks.needs import NEEDED
from tools.recorded.pronoun_heads import MODEL, answers, pairs

MATCHER = 1, 3  # (layer, head), both from 0


@pytest.fixture(scope="module")
def model():
    if not NEEDED["model"][0].exists():
        pytest.skip(NEEDED["model"][1])
    return load_pretrained(MODEL)


# --- the head that looks one back ------------------------------------------------------------------


def test_the_head_that_looks_one_back_follows_places(model):
    rng = np.random.default_rng(3)
    for row in pairs()[5::16]:
        words = row["sentence"].rstrip(".").split()
        for text in (row["sentence"], " ".join(rng.permutation(words)) + "."):
            weights = model.run(model.tokenize(text))[1]
            assert np.diagonal(weights[0, 2], -1).mean() > 0.99


@pytest.mark.parametrize("word", [None, "the", "cat", ".", "because", "river", "gold", "she"])
def test_its_circuit_has_the_line_below_the_diagonal_among_64_places(model, word):
    """Without any token, as on the page, and when every token is the same word."""
    arrays, first = model.arrays, model.arrays.layers[0].attention
    token = 0.0 if word is None else arrays.tokens[model.tokenize(word)[1]]
    places = layer_norm(arrays.positions + token + arrays.segment, arrays.gain, arrays.bias)
    query = (places @ first.query_weight + first.query_bias)[:, 64:96]
    key = (places @ first.key_weight + first.key_bias)[:, 64:96]
    scores = query @ key.T
    assert (scores[1:64, :64].argmax(axis=1) == np.arange(63)).all()
    assert max(len(model.tokenize(row["sentence"])) for row in pairs()) < 64


def one_back(model, words, n):
    """Of head 2 of layer 1, in each row but the first, the weight on the token before, in a text of n tokens."""
    ids = model.tokenize(" ".join(words))
    return np.diagonal(model.run(np.concatenate([ids[: n - 1], ids[-1:]]), layers=1)[1][0, 2], -1)


@pytest.mark.parametrize("seed", range(8))
def test_in_long_texts_the_first_rows_lose_the_token_before(model, seed):
    """With single words in a random order, where the page has sentences. The last rows keep it, and so do short texts."""
    words = np.random.default_rng(100 + seed).permutation(" ".join(row["sentence"] for row in pairs()).split())[:520]
    long, short = one_back(model, words, 512), one_back(model, words, 120)
    assert long[:19].mean() < 0.2 and long[:127].mean() < 0.5 and long[128:].mean() > 0.97
    assert short.min() > 0.8


def test_the_far_places_win_at_the_front(model):
    """From the places alone: what is right of place 128 takes the early rows from the place before, and no later row."""
    arrays, first = model.arrays, model.arrays.layers[0].attention
    places = layer_norm(arrays.positions + arrays.segment, arrays.gain, arrays.bias)
    query, key = ((places @ w + b)[:, 64:96] for w, b in ((first.query_weight, first.query_bias), (first.key_weight, first.key_bias)))
    most = (query @ key.T).argmax(axis=1)
    before = np.arange(512) - 1
    assert (most == before)[1:64].sum() == 10 and (most == before)[129:511].all()
    lost = most[1:128][most[1:128] != before[1:128]]
    assert (lost >= 128).all() and len(lost) > 60


# --- the head that matches a pronoun with a noun ---------------------------------------------------


def from_word(model, row, word, at=MATCHER):
    """With another word in the place of *he*, its weights on the man and on the woman."""
    ids = model.tokenize(re.sub(r"\bhe\b", word, row["sentence"]))
    words, weights = model.words(ids), model.run(ids)[1][at]
    return [weights[words.index(word), words.index(row[noun])] for noun in ("right", "wrong")]


@pytest.mark.thorough
def test_a_switch_is_no_sign_of_gender_and_the_weights_are(model):
    """In each half of the templates: *they* switches nearly as often as *she*, and only *he* and *she* give a noun much."""
    men = [row for row in pairs("gender") if row["pronoun"] == "he"]
    for half in "ab":
        of = {word: np.array([from_word(model, row, word) for row in men if row["half"] == half]) for word in "he she they it one".split()}
        switch = {word: ((rows[:, 0] > rows[:, 1]) != (of["he"][:, 0] > of["he"][:, 1])).mean() for word, rows in of.items()}
        assert len(of["he"]) == 24 and switch["she"] > 0.9 and switch["they"] > 0.8 and 0.5 < switch["it"] < 0.9 and switch["one"] < 0.4
        mean = {word: rows.mean(axis=0) for word, rows in of.items()}
        assert mean["he"][0] > 0.25 and mean["she"][1] > 0.45 and max(mean[word].max() for word in ("they", "it", "one")) < 0.2


@pytest.mark.thorough
def test_the_model_itself_is_rarely_right_about_a_property(model):
    """In each half: the same answer is nearer to both sentences of most pairs. A coin would be right in both of a quarter."""
    both = {}
    for kind in ("property", "gender", "number"):
        rows = pairs(kind)
        nearer = np.vecdot(model.embed([row["sentence"] for row in rows]), answers(model, rows)).reshape(-1, 2) > 0
        both[kind] = nearer.all(axis=1)
        if kind == "property":
            half = np.array([row["half"] for row in rows[::2]])
            for which in "ab":
                assert both[kind][half == which].mean() < 0.1 and (nearer[half == which].sum(axis=1) == 1).mean() > 0.75
    assert both["property"].sum() == 4 and both["gender"].mean() > 0.5 and both["number"].mean() < 0.25


OTHERS = [pytest.param(verb, marks=pytest.mark.thorough) for verb in "greeted invited saw warned kissed blamed taught".split()]


@pytest.mark.parametrize("verb", ["praised", *OTHERS])
def test_himself_does_not_bring_the_second_of_two_men(model, verb):
    """Both nouns fit, in three orders of the nouns. What must mean the second gives the first more; *her* and *herself*, not less."""
    pairs_of = [(row["right"], row["wrong"]) for row in pairs("gender")[::8]]
    for shift in (2, 5, 7):
        for people, ones in zip(zip(*pairs_of, strict=True), (("him", "himself"), ("her", "herself")), strict=True):
            for one in ones:
                found = []
                for first, second in zip(people, people[shift:] + people[:shift], strict=True):
                    ids = model.tokenize(f"The {first} saw that the {second} {verb} {one}.")
                    words, weights = model.words(ids), model.run(ids)[1][MATCHER]
                    found.append([weights[words.index(one), words.index(noun)] for noun in (first, second)])
                earlier, later = np.mean(found, axis=0)
                assert earlier > later + (0.02 if one in ("him", "himself") else -0.01)


@pytest.mark.parametrize("verb", "followed chased found watched passed stopped heard helped".split())
def test_the_matcher_does_not_let_go_of_a_plural_that_cannot_be_meant(model, verb):
    """The sentence of the last question, and other nouns and verbs."""
    for many, one in (("cats", "dog"), ("dogs", "cat"), ("boys", "girl")):
        ids = model.tokenize(f"The {one} saw that the {many} {verb} them.")
        words, weights = model.words(ids), model.run(ids)[1][MATCHER]
        assert weights[words.index("them"), words.index(many)] > 1.5 * weights[words.index("them"), words.index(one)]
