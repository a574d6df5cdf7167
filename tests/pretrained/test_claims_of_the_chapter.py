"""What chapter 13 says of the trained model, computed again: with other sentences, other orders of words, and other halves.

Most of it needs the model; without it those tests are skipped with a sentence. The pairs themselves are tested without it.
"""

from collections import Counter

import numpy as np
import pytest
from nbformat import read

from attnlib.pretrained import load_pretrained, read_safetensors
from tools.notebooks.needs import NEEDED
from tools.recorded import pronoun_heads, pronoun_pairs
from tools.recorded.pronoun_heads import MODEL, SIX, answers, by_template, finds, pairs, pulls

MATCHER, ANIMAL, COSTLY_HEAD = (1, 3), (5, 11), (5, 8)  # (layer, head), both from 0
CAT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def model():
    if not NEEDED["model"][0].exists():
        pytest.skip(NEEDED["model"][1])
    return load_pretrained(MODEL)


@pytest.fixture(scope="module")
def recorded():
    with np.load(pronoun_heads.FILE) as file:
        return {name: file[name] for name in file}


# --- the pairs, which need no model ---------------------------------------------------------------


def plain(row):
    return row["sentence"].rstrip(".").replace(",", "").lower().split()


def test_the_pairs_are_those_of_the_templates():
    assert pronoun_pairs.FILE.read_text(encoding="ascii") == pronoun_pairs.text_of(), "python -m tools.recorded.pronoun_pairs"


def test_a_pair_differs_in_one_word_and_swaps_its_nouns():
    rows = pairs()
    assert len(rows) == 384 and len({row["sentence"] for row in rows}) == 384
    for one, other in zip(rows[::2], rows[1::2], strict=True):
        assert sum(a != b for a, b in zip(plain(one), plain(other), strict=True)) == 1
        assert (one["right"], one["wrong"]) == (other["wrong"], other["right"])
        for row in (one, other):
            assert [plain(row).count(row[name]) for name in ("pronoun", "right", "wrong")] == [1, 1, 1]


def test_each_sort_of_noun_comes_first_equally_often():
    """Animal and thing, man and woman, one and many: the noun that is right in the first sentence of a pair, and the other."""
    sorts = {"property": set(), "gender": {"he"}, "number": {"it"}}
    for half in "ab":
        for kind, pronoun in sorts.items():
            ones = [row for row in pairs(kind)[::2] if row["half"] == half]
            assert not pronoun or {row["pronoun"] for row in ones} == pronoun
            first = Counter(plain(row).index(row["right"]) < plain(row).index(row["wrong"]) for row in ones)
            assert first[True] == first[False] > 0


# --- what the chapter reads from maps ------------------------------------------------------------


def row_of_it(model, text):
    words, weights = model.words(model.tokenize(text)), model.run(model.tokenize(text))[1]
    return dict(zip(words, weights[*ANIMAL, words.index("it")], strict=True))


def test_the_picture_of_it_does_not_follow_the_last_word(model):
    tired, soft = (row_of_it(model, CAT.replace("tired", word)) for word in ("tired", "soft"))
    assert round(float(tired["cat"]), 2) == 0.71 and round(float(soft["cat"]), 2) == 0.68
    assert tired["mat"] < 0.12 and soft["mat"] < 0.12


def test_the_whole_map_is_a_column(model):
    """Nearly all rows give the cat most, and the last word gives [CLS] a little more; beside another carpet as well."""
    for text, least in ((CAT, 13), (CAT.replace("tired", "soft"), 13), ("The dog slept on the carpet because it was thick.", 12)):
        words = model.words(model.tokenize(text))
        weights = model.run(model.tokenize(text))[1][ANIMAL]
        animal, thing = (next(i for i, word in enumerate(words) if word in names) for names in (("cat", "dog"), ("mat", "carpet")))
        assert (weights[:, animal] > weights[:, thing]).sum() >= least
        assert weights[thing, animal] > 0.9 * weights[words.index("it"), animal]
        if text.startswith("The cat"):
            most = [words[column] for column in weights.argmax(axis=1)]
            assert most == ["[CLS]" if word in ("tired", "soft") else "cat" for word in words]
            assert words[weights[words.index(text.split()[-1].rstrip("."))].argsort()[-2]] == "cat"


def in_pairs(model, rows):
    """For each pair and head: is the pronoun right in both sentences, wrong in both; how many other words switch; agree."""
    found = []
    for pair in zip(rows[::2], rows[1::2], strict=True):
        nouns, prefers, right, said = (pair[0]["right"], pair[0]["wrong"]), [], [], []
        for row in pair:
            ids = model.tokenize(row["sentence"])
            words, weights = model.words(ids), model.run(ids)[1]
            prefers.append(weights[..., words.index(nouns[0])] > weights[..., words.index(nouns[1])])
            pronoun = weights[:, :, words.index(row["pronoun"])]
            right.append(pronoun[..., words.index(row["right"])] > pronoun[..., words.index(row["wrong"])])
            said.append(words)
        others = [i for i, (one, other) in enumerate(zip(*said, strict=False)) if one == other and one.isalpha() and one not in (*nouns, pair[0]["pronoun"])]
        one, other = (these[..., others] for these in prefers)
        found.append((right[0] & right[1], ~right[0] & ~right[1], (one != other).mean(axis=-1), one.mean(axis=-1)))
    return map(np.array, zip(*found, strict=True))


@pytest.mark.thorough
def test_the_row_of_the_pronoun_switches_and_other_rows_do_not(model):
    """In pairs of gender. In the animal head, the control, no row switches, and the other words choose the animal as well."""
    right, wrong, others, _ = in_pairs(model, pairs("gender"))
    switch = (right | wrong).mean(axis=0)
    assert switch[MATCHER] > 0.94 and others.mean(axis=0)[MATCHER] < 0.03
    right, wrong, others, animal = in_pairs(model, pairs("property"))
    assert (right | wrong).mean(axis=0)[ANIMAL] < 0.07 and others.mean(axis=0)[ANIMAL] < 0.08 and 0.79 < animal.mean(axis=0)[ANIMAL] < 0.81


@pytest.mark.thorough
def test_a_head_without_a_pair_may_be_wrong_in_both_sentences(model):
    """In either half of the templates. The animal head, which gets no pair either, mostly prefers the same noun."""
    people = pairs("gender")
    right, wrong, _, _ = in_pairs(model, people)
    for half in "ab":
        taken = np.array([row["half"] == half for row in people[::2]])
        assert right[taken].mean(axis=0)[COSTLY_HEAD] == 0 and wrong[taken].mean(axis=0)[COSTLY_HEAD] > 0.85
        assert right[taken].mean(axis=0)[ANIMAL] == 0 and wrong[taken].mean(axis=0)[ANIMAL] < 0.4


@pytest.mark.thorough
def test_a_head_that_one_half_of_the_templates_chooses_is_right_in_the_other(model):
    people = pairs("gender")
    right, _, _, _ = in_pairs(model, people)
    half = np.array([row["half"] for row in people[::2]])
    for chooses, judges in ("ab", "ba"):
        best = np.unravel_index(right[half == chooses].mean(axis=0).argmax(), (6, 12))
        assert best in (MATCHER, (4, 5)) and right[half == judges][:, *best].sum() >= 22 and (half == judges).sum() == 24


@pytest.mark.thorough
def test_a_head_with_nearly_all_pairs_may_hardly_look_at_the_nouns(model):
    """In each half of the templates: layer 5, head 5 has the right order, and tiny weights; most of its weight is on [CLS]."""
    for half in "ab":
        seen = []
        for row in (row for row in pairs("gender")[::3] if row["half"] == half):
            words, weights = model.words(model.tokenize(row["sentence"])), model.run(model.tokenize(row["sentence"]))[1]
            row_of = weights[:, :, words.index(row["pronoun"])]
            seen.append([[row_of[*at, words.index(row.get(name, name))] for name in ("right", "wrong", "[CLS]")] for at in (MATCHER, (4, 5))])
        (right, wrong, _), (few, fewer, first) = np.mean(seen, axis=0)
        assert right > 0.35 and wrong < 0.1 and fewer < few < 0.04 and first > 0.85


MEANT = {
    "may be": "The {fits} saw that the {other} {verb} {her}.",
    "cannot be": "The {other} saw that the {fits} {verb} {her}.",
    "must be": "The {other} saw that the {fits} {verb} {her}self.",
}


VERBS = ["praised", "greeted", *(pytest.param(verb, marks=pytest.mark.thorough) for verb in "invited saw warned kissed blamed taught".split())]


@pytest.mark.parametrize("verb", VERBS)
def test_the_matcher_looks_at_the_noun_that_fits_whoever_is_meant(model, verb):
    """With verbs that the page does not take, and with other heads as a control."""
    nouns = [(row["right"], row["wrong"]) for row in pairs("gender")[::8]]
    on = {}
    for meant, form in MEANT.items():
        on[meant] = []
        for man, woman in nouns:
            for her, fits, other in (("him", man, woman), ("her", woman, man)):
                ids = model.tokenize(form.format(fits=fits, other=other, verb=verb, her=her))
                words, weights = model.words(ids), model.run(ids)[1]
                row = weights[:, :, next(i for i, word in enumerate(words) if word.startswith(her))]
                on[meant].append((row[..., words.index(fits)], row[..., words.index(other)]))
    on = {meant: np.array(values) for meant, values in on.items()}
    for values in on.values():
        more = (values[:, 0] > values[:, 1]).reshape(12, 2, 6, 12).all(axis=1).mean(axis=0)  # with him and with her
        assert more[MATCHER] > 0.95 and more[ANIMAL] < 0.5 and np.median(more) < 0.5
    may, cannot, must = (on[meant][:, 0, *MATCHER].reshape(12, 2).mean(axis=0) for meant in MEANT)  # with him and with her
    assert (may > cannot).all() and must[0] < 1.15 * cannot[0] and must[1] < 0.9 * cannot[1] and must.min() > 0.15


@pytest.mark.thorough
def test_the_shares_of_pairs(model):
    right = by_template(finds(model, pairs())) / 4  # template, head
    kinds = np.repeat(["property", "gender", "number"], [24, 12, 12])
    share = {kind: right[kinds == kind].mean(axis=0).reshape(6, 12) for kind in set(kinds)}
    assert share["property"][ANIMAL] < 0.1 and share["gender"][ANIMAL] < 0.05 and share["number"][ANIMAL] < 0.1
    assert share["property"].max() < 0.4  # no head
    assert share["gender"][MATCHER] > 0.95
    assert right[kinds == "gender"][1::2, 15].mean() == 1  # half b
    assert set(zip(*np.nonzero(share["gender"] > 0.9), strict=True)) == {MATCHER, (4, 5)}


@pytest.mark.thorough
def test_the_animal_head_chooses_the_animal(model):
    chosen = finds(model, pairs("property"))[:, 71].reshape(-1, 2)
    picks = np.concatenate([chosen[:, 0], ~chosen[:, 1]])
    assert picks.mean() > 0.9 and 0.45 < chosen.mean() < 0.58


def test_an_interval_on_the_page_is_wilsons():
    """The ends are the shares p whose own standard error reaches the share that was seen."""
    cell = next(cell for cell in chapter_cells() if cell.id == "pairs-table")
    scope = {"np": np}
    exec(cell.source.partition("NAMED")[0], scope)
    for seen, n in ((0.05, 24), (0.96, 12), (0.5, 12), (0.0, 12)):
        said = [float(number) for number in scope["interval"](seen, n).replace("(", "").replace(")", "").split() if number != "to"]
        many = np.linspace(0, 1, 200_001)
        inside = many[np.abs(many - seen) <= 1.96 * np.sqrt(many * (1 - many) / n) + 1e-12]
        assert np.allclose(said, [seen, inside.min(), inside.max()], atol=0.006)


# --- what moves the answer -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def asked(model):
    """The sentences of the gender pairs, what their answers differ by, and the mean outputs of all heads."""
    people = pairs("gender")
    texts = [row["sentence"] for row in people]
    return people, texts, answers(model, people), model.head_means(texts)


@pytest.mark.parametrize("way", [0, 1], ids=["zero", "mean"])
def test_without_one_head_half_of_the_pull_is_lost_and_without_no_other(recorded, way):
    left = recorded["out"][way] / recorded["none"].mean()
    index = 12 * COSTLY_HEAD[0] + COSTLY_HEAD[1]
    assert 0.45 < left[index] < 0.56 and 0.85 < np.delete(left, index).min()


def test_without_the_best_maps_nothing_of_the_pull_is_lost(recorded):
    whole = recorded["none"].mean()
    assert (recorded["six"] > 1.3 * whole).all() and (recorded["out"][:, 15] > whole).all()
    assert (recorded["random"].max(axis=1) < recorded["six"]).all() and recorded["random"].min() > 0.9 * whole


@pytest.mark.thorough
def test_the_recorded_pulls_come_out_again(model, recorded, asked):
    people, texts, toward, means = asked
    whole = pulls(model.embed(texts), toward)
    assert (whole > 0).sum() == 47 and np.allclose(whole.reshape(12, 4).mean(axis=1), recorded["none"], atol=1e-5)
    for heads, kept in ((SIX, recorded["six"]), ([COSTLY_HEAD], recorded["out"][:, 68]), ([MATCHER], recorded["out"][:, 15])):
        for way, without in enumerate((set(heads), {head: means[head] for head in heads})):
            pull = pulls(model.embed(texts, without=without), toward)
            assert np.allclose(pull.mean(), kept[way], atol=1e-5)
            if heads == [MATCHER]:  # it works against the answer in nearly every pair, and in every template
                assert (pull > whole).sum() >= 47 and (pull.reshape(12, 4).mean(axis=1) > recorded["none"]).all()
            for half in (0, 1):  # the same of the templates that choose and of those that judge
                left = pull.reshape(12, 4)[half::2].mean() / whole.reshape(12, 4)[half::2].mean()
                assert left < 0.6 if heads == [COSTLY_HEAD] else left > 1


def with_one_noun(row, noun):
    """The sentence with the same noun in both places."""
    words = row["sentence"].replace(",", " ,").replace(".", " .").split()
    return " ".join(noun if word in (row["right"], row["wrong"]) else word for word in words)


@pytest.mark.thorough
@pytest.mark.parametrize("noun", "person doctor child friend student neighbour teacher guest".split())
def test_the_head_is_needed_more_where_gender_picks_nobody(model, asked, noun):
    """The control that undoes the ablation, with the noun of the page and seven others, on one pair of each template."""
    people, _, toward, means = asked
    first = np.arange(96) % 8 < 2
    texts = [with_one_noun(row, noun) for row, taken in zip(people, first, strict=True) if taken]
    ways = (), {COSTLY_HEAD: means[COSTLY_HEAD]}
    pull, without = (pulls(model.embed(texts, without=way), toward[first]) for way in ways)
    for half in (slice(None), slice(0, None, 2), slice(1, None, 2)):  # in the sentences, 0.069 is the pull, and 0.49 of it is left
        assert pull[half].mean() > 1.2 * 0.069 and without[half].mean() / pull[half].mean() < 0.47


@pytest.mark.thorough
def test_the_pull_needs_no_sentence(model, asked):
    """The pronoun alone has the pull, with a full stop and without; and half of the pull is left in the sentence, in each half."""
    people, texts, toward, means = asked
    whole = pulls(model.embed(texts), toward).mean()
    for end in (".", ""):
        pull = pulls(model.embed([row["pronoun"] + end for row in people]), toward)
        assert pull.mean() > 2.4 * whole and (pull > 0).all()
        without = model.embed([row["pronoun"] + end for row in people], without={COSTLY_HEAD: means[COSTLY_HEAD]})
        assert 0.6 < pulls(without, toward).mean() / pull.mean() < 0.8
    for instead in ({COSTLY_HEAD}, {COSTLY_HEAD: means[COSTLY_HEAD]}):  # half of the pull, and no wrong way
        assert (pulls(model.embed(texts, without=instead), toward) > 0).all()


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["zero", "mean"])
def test_the_costly_head_helps_in_other_rows_than_that_of_the_wrong_map(model, asked, way):
    """Without the row of the pronoun the pull grows. No other single row carries the work, and all of them together do."""
    people, texts, toward, means = asked
    instead = means[COSTLY_HEAD] if way == "mean" else 0.0
    both = []
    for text in texts:
        ids = model.tokenize(text)
        states, _ = model.run(ids, without={COSTLY_HEAD: instead}, weights=False)
        both.append((np.array(model.words(ids)), model.run(ids, weights=False)[0], states))

    def left(taken):  # of the pull, without the head in the rows that are taken, for each template
        vectors = [
            model.pool(np.where(np.broadcast_to(taken(words, row), len(words))[:, np.newaxis], gone, states))
            for row, (words, states, gone) in zip(people, both, strict=True)
        ]
        return pulls(np.array(vectors), toward).reshape(12, 4).mean(axis=1)

    whole = left(lambda words, row: False).mean()
    pronoun = left(lambda words, row: words == row["pronoun"])
    single = [left(lambda words, row, name=name: words == row[name]) for name in ("right", "wrong")]
    single += [left(lambda words, row, word=word: words == word) for word in ("[CLS]", ".", "[SEP]")]
    single += [left(lambda words, row, place=place: np.arange(len(words)) == place) for place in range(1, 8)]
    for half in (slice(None), slice(0, None, 2), slice(1, None, 2)):
        assert pronoun[half].mean() > left(lambda words, row: False)[half].mean()
    assert 1.07 < pronoun.mean() / whole < 1.12
    assert 0.82 < min(pull.mean() for pull in single) / whole < max(pull.mean() for pull in single) / whole < 1.1
    assert 0.45 < left(lambda words, row: True).mean() / whole < 0.56
    assert 0.37 < left(lambda words, row: words != row["pronoun"]).mean() / whole < 0.46


def test_what_a_head_writes_in_the_last_layer_changes_no_other_row(model):
    """So the chapter may choose between two runs, row by row."""
    ids = model.tokenize(CAT)
    outputs = model.inside(ids).outputs[COSTLY_HEAD].copy()
    states = model.run(ids)[0]
    outputs[7] = 0
    changed = np.abs(model.run(ids, without={COSTLY_HEAD: outputs})[0] - states).max(axis=1)
    assert changed[7] > 0.01 and np.delete(changed, 7).max() < 1e-5


def chapter_cells():
    return read(pronoun_heads.ROOT / "chapters" / "13_pretrained.ipynb", 4).cells


def test_a_word_with_a_rest_that_has_no_piece_is_unknown_as_on_the_page(model):
    """The rule as the chapter writes it, against the tokenizer of the library."""
    scope = {}
    exec(next(cell.source for cell in chapter_cells() if cell.id == "pieces"), scope)
    for word in ("un\u2603", "smile\u2603", "\u2603", "unhappiness", "softmax", "attention"):
        cut = scope["pieces"](word, model.tokenizer.vocabulary)
        assert cut == model.words(model.tokenize(word))[1:-1]


@pytest.mark.thorough
def test_the_costly_head_looks_at_the_wrong_noun(model):
    assert finds(model, pairs("gender"))[:, 68].mean() < 0.1


# --- the transposition ----------------------------------------------------------------------------


def test_matrices_are_stored_out_by_in(model):
    """The rectangular ones say so, and the model has them the other way round."""
    stored = read_safetensors(MODEL / "model.safetensors")
    assert stored["encoder.layer.0.intermediate.dense.weight"].shape == (1536, 384)
    layer = model.arrays.layers[0]
    assert layer.up_weight.shape == (384, 1536)
    assert np.array_equal(layer.attention.query_weight.T, stored["encoder.layer.0.attention.self.query.weight"])
    assert sum(array.dtype.kind == "f" for array in stored.values()) == 103
