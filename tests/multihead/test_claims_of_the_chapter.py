"""What chapter 5 says of its heads, with more starts than its cells have, and with the control that each claim needs."""

from pathlib import Path

import numpy as np
import pytest

from attnexercises.multihead.built import previous_token_head
from attnlib.attention import attention, attention_backward
from attnlib.gradients import check_gradient
from attnlib.multihead import merge_heads, split_heads
from attnlib.softmax import softmax
from attnlib.training import encode, init_transformer, load_trained, transformer

B, N, M, H, D, V = 2, 4, 6, 3, 7, 8


def induction(word, letters, back=1, over=False, reads_own=False, residual=True):
    """The guesses of the pair of layers of the chapter, after each token of a word of letter numbers."""
    n, own = len(word), slice(0, letters)
    note = slice(letters + n, 2 * letters + n)
    start = np.zeros((n, 2 * letters + n))
    start[:, own], start[:, own.stop : note.start] = np.eye(letters)[word], np.eye(n)
    query_weight, key_weight = previous_token_head(letters, n)
    if back == 2:
        query_weight[letters:] = 99 * np.eye(n, k=-2)
    placed = start[:, : note.start]
    copied, _ = attention(placed @ query_weight, placed @ key_weight, start[:, own], causal=True)
    after = residual * start
    after[:, own if over else note] += copied
    keys = after[:, own if over or reads_own else note]
    return attention(10 * np.sqrt(letters) * after[:, own], keys, after[:, own], causal=True)[0]


BROKEN = {"two back": {"back": 2}, "over the letter": {"over": True}, "own letter": {"reads_own": True}}


@pytest.mark.parametrize("seed", range(20))
def test_the_induction_pair_guesses_what_followed(seed):
    rng = np.random.default_rng(seed)
    word = [0, *rng.integers(1, 4, size=6)]  # a dot begins the text
    guess = induction(word, 4)
    assert induction(word, 4, residual=False).max() == 0
    for i in range(1, 7):
        followers = [word[j + 1] for j in range(i) if word[j] == word[i]]
        if followers:
            np.testing.assert_allclose(guess[i], np.bincount(followers, minlength=4) / len(followers), atol=0.1)
            if len(followers) == 1:
                assert guess[i].max() > 0.9


@pytest.mark.parametrize("letters", [3, 6])
@pytest.mark.parametrize("seed", range(20))
def test_each_part_of_the_pair_is_needed(seed, letters):
    """No letter stands twice in a row, or two parts could agree by chance; with six letters the text is longer, too."""
    rng = np.random.default_rng(seed)
    word = [0, *(1 + rng.integers(1, letters, size=2 * letters).cumsum() % letters)]
    for i in range(1, len(word)):
        followers = {word[j + 1] for j in range(i) if word[j] == word[i]}
        if len(followers) != 1:
            continue
        for name, way in {"right": {}, **BROKEN}.items():
            said = set(np.flatnonzero(induction(word, letters + 1, **way)[i] > 0.9))
            assert (said == followers) == (name == "right"), name


@pytest.mark.parametrize("letters", [6, 20])
@pytest.mark.parametrize("seed", range(8))
def test_broken_pairs_are_mostly_wrong_where_letters_may_repeat(seed, letters):
    """Plain random texts, as in the chapter's table: a broken pair is right by chance, where a letter follows itself."""
    rng, right = np.random.default_rng(seed), {name: [] for name in ("right", *BROKEN)}
    for _ in range(50):
        word = [0, *rng.integers(1, letters + 1, size=2 * letters)]
        said = {name: induction(word, letters + 1, **way) > 0.9 for name, way in {"right": {}, **BROKEN}.items()}
        for i in range(1, len(word)):
            followers = {word[j + 1] for j in range(i) if word[j] == word[i]}
            if len(followers) == 1:
                for name, rows in said.items():
                    right[name].append(set(np.flatnonzero(rows[i])) == followers)
    assert all(right.pop("right"))
    assert max(np.mean(hits) for hits in right.values()) < 0.5


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("letters", [4, 10, 26])
def test_the_pair_stays_sharp_and_writes_on(seed, letters):
    """With the factor of 10 √d; a fixed factor of 20 gives less than 0.7 of the guess to one of 26 letters."""
    word = [0, *(1 + np.random.default_rng(seed).permutation(letters))]
    text = [*word, word[1]]
    for _ in range(2 * letters):
        guess = induction(text, letters + 1)[-1]
        assert guess.max() > 0.9
        text.append(int(guess.argmax()))
    assert text == [0, *(4 * word[1:])][: len(text)]


def test_without_a_dot_the_first_letter_carries_its_own_note():
    guess = induction([1, 2, 0, 1], 3)[-1]  # murm: the last m finds the first m and the u
    assert 0.4 < guess[1] < 0.6 and 0.4 < guess[2] < 0.6
    several = induction([0, 1, 2, 1, 3, 1], 4)[-1]  # .mumrm has two followers of m
    np.testing.assert_allclose(several, [0, 0, 0.5, 0.5], atol=0.1)  # it cannot prefer the last


@pytest.mark.parametrize("seed", range(20))
def test_two_heads_deliver_two_features_for_all_values(seed):
    """The pair that reaches (5, 5) does so for other values."""
    values = np.random.default_rng(seed).standard_normal((3, 2))
    words = np.hstack([np.eye(3), values])
    brought = []
    for feature, asked in enumerate((1, 0)):  # mat, cat
        asks, answers = np.zeros((2, 5, 3))
        asks[2, asked], answers[:3] = 20, np.eye(3)
        brought.append(attention(words[2:] @ asks, words @ answers, words[:, [3 + feature]])[0].item())
    wanted = [values[1, 0], values[0, 1]]
    np.testing.assert_allclose(brought, wanted, atol=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_no_single_set_of_weights_and_matrix_serves_all_values(seed):
    """The best weights and matrix that a few rounds of least squares find leave an error; two sets leave none."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((500, 3, 2))  # cat, mat, sat
    wanted = np.stack([values[:, 1, 0], values[:, 0, 1]], axis=1)
    weights = rng.dirichlet(np.ones(3))
    for _ in range(200):
        averages = np.einsum("j,bjf->bf", weights, values)
        matrix = np.linalg.lstsq(averages, wanted, rcond=None)[0]
        moved = (values @ matrix).swapaxes(1, 2).reshape(-1, 3)  # linear in the weights; they need not even be positive
        weights = np.linalg.lstsq(moved, wanted.reshape(-1), rcond=None)[0]
    left = np.mean((moved @ weights - wanted.reshape(-1)) ** 2)
    assert left > 0.3  # of 1


def gradients(weights, x, d_out, split, merge):
    """Of the query, key and value weight."""
    *into, out_weight = weights
    inputs = [split(x @ weight) for weight in into]
    d_inputs = attention_backward(split(d_out @ out_weight.T), *inputs, attention(*inputs)[1])
    return [(x.mT @ merge(d)).sum(axis=0) for d in d_inputs]


SPLITS = {"right": lambda y: split_heads(y, H), "wrong": lambda y: y.reshape(B, H, N, -1)}
MERGES = {"right": merge_heads, "wrong": lambda y: y.reshape(B, N, -1)}
CUTS = {"right": (SPLITS["right"], MERGES["right"]), "reshape alone": (SPLITS["wrong"], MERGES["wrong"])}


def start(seed):
    draw = np.random.default_rng(seed).standard_normal
    shapes = ((M, H * D), (M, H * D), (M, H * V), (H * V, M))
    return draw((B, N, M)), draw((B, N, M)), [draw(shape) / np.sqrt(shape[0]) for shape in shapes]


def forward(weights, x, split, merge):
    *into, out_weight = weights
    return merge(attention(*(split(x @ weight) for weight in into))[0]) @ out_weight


@pytest.mark.parametrize("seed", range(8))
def test_a_gradient_check_passes_the_wrong_layer_and_a_permutation_does_not(seed):
    x, d_out, weights = start(seed)
    order = [2, 0, 3, 1]
    for name, cuts in CUTS.items():
        for place, found in enumerate(gradients(weights, x, d_out, *cuts)):
            def loss(weight, place=place, cuts=cuts):
                return (d_out * forward([*weights[:place], weight, *weights[place + 1 :]], x, *cuts)).sum()

            assert check_gradient(loss, weights[place], found)
        moved = np.abs(forward(weights, x[:, order], *cuts) - forward(weights, x, *cuts)[:, order]).max()
        assert moved < 1e-12 if name == "right" else moved > 0.5


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("wrong", ["split", "merge"])
def test_one_wrong_cut_leaks_into_the_query_weight_too(seed, wrong):
    """Found by differences, because the backward of one wrong cut is no longer the other cut."""
    x, d_out, weights = start(seed)
    cuts = SPLITS["wrong" if wrong == "split" else "right"], MERGES["wrong" if wrong == "merge" else "right"]
    weights[3][V:] = 0  # head 0 alone
    other, slopes = np.zeros_like(weights[0]), []
    for i in range(M):
        for column in range(D, H * D):
            other[:] = weights[0]
            other[i, column] += 1e-5
            up = (d_out * forward([other, *weights[1:]], x, *cuts)).sum()
            other[i, column] -= 2e-5
            slopes.append((up - (d_out * forward([other, *weights[1:]], x, *cuts)).sum()) / 2e-5)
    assert np.abs(slopes).max() > 0.05


@pytest.mark.parametrize("seed", range(20))
def test_only_the_leak_sees_the_reshape(seed):
    """The gradients of the heads add up in both versions; one leaks into the key and the value weight, never the query's.

    That holds where split and merge are both wrong; a layer with one wrong cut leaks into the query weight, too.
    """
    draw = np.random.default_rng(seed).standard_normal
    x, d_out = draw((2, B, N, M))
    weights = [draw(shape) / np.sqrt(shape[0]) for shape in ((M, H * D), (M, H * D), (M, H * V), (H * V, M))]
    leaks = {}
    for name, cuts in CUTS.items():
        owner = np.arange(H * V)[:, np.newaxis] // V
        alone = [gradients([*weights[:3], weights[3] * (owner == i)], x, d_out, *cuts) for i in range(H)]
        for whole, *parts in zip(gradients(weights, x, d_out, *cuts), *alone, strict=True):
            np.testing.assert_allclose(sum(parts), whole, atol=1e-12)
        leaks[name] = [
            max(np.abs(np.delete(np.split(alone[i][place], H, axis=1), i, axis=0)).max() for i in range(H))
            for place in range(3)
        ]
    assert leaks["right"] == [0, 0, 0]
    assert leaks["reshape alone"][0] == 0
    assert min(leaks["reshape alone"][1:]) > 0.1


def interleaved_cuts():
    """Head 0 owns every H-th column; what is merged stands head after head, as the out weight expects."""
    def split(y):
        return y.reshape(*y.shape[:2], -1, H).transpose(0, 3, 1, 2)

    return split, merge_heads


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("tokens", "count", "moves"), [
    (4, 3, True), (8, 4, True), (6, 4, True), (4, 2, True),
    (4, 4, False), (3, 3, False), (8, 8, False), (4, 8, False), (6, 12, False),
])  # fmt: skip
def test_a_permutation_sees_the_reshape_unless_h_is_a_multiple_of_n(seed, tokens, count, moves):
    rng = np.random.default_rng(seed)
    x, order = rng.standard_normal((2, tokens, 5)), np.roll(np.arange(tokens), 1)
    into, out_weight = rng.standard_normal((3, 5, count * 4)), rng.standard_normal((count * 4, 5))

    def layer(x):
        out, _ = attention(*((x @ weight).reshape(2, count, tokens, -1) for weight in into))
        return out.reshape(2, tokens, -1) @ out_weight

    difference = np.abs(layer(x[:, order]) - layer(x)[:, order]).max()
    assert difference > 0.5 if moves else difference < 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_head_0_alone_sees_interleaved_heads_and_one_token_per_head(seed):
    """Both pass the permutation; the query weight stays clean when split and merge are both by reshape."""
    x, d_out, weights = start(seed)
    split, merge = interleaved_cuts()
    order = [2, 0, 3, 1]
    moved = forward(weights, x[:, order], split, merge) - forward(weights, x, split, merge)[:, order]
    assert np.abs(moved).max() < 1e-12
    weights[3][V:] = 0  # head 0 alone
    into = [split(x @ weight) for weight in weights[:3]]
    d_into = attention_backward(SPLITS["right"](d_out @ weights[3].T), *into, attention(*into)[1])
    for d in d_into:
        gradient = (x.mT @ d.transpose(0, 2, 3, 1).reshape(B, N, -1)).sum(axis=0)
        assert np.abs(gradient[:, gradient.shape[1] // H :]).max() > 0.1
    few, d_few = x[:, :H], d_out[:, :H]  # as many tokens as heads
    cuts = lambda y: y.reshape(B, H, H, -1), lambda y: y.reshape(B, H, -1)  # noqa: E731
    leaks = [np.abs(g[:, g.shape[1] // H :]).max() for g in gradients(weights, few, d_few, *cuts)]
    assert leaks[0] == 0
    assert min(leaks[1:]) > 0.1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [3, 5, 9])
def test_prescribed_weights_need_n_minus_1_features(seed, n):
    """The scores are the logarithms up to a number for each row; without that number n - 1 directions are left."""
    wanted = np.random.default_rng(seed).dirichlet(np.ones(n), size=n)
    scores = np.log(wanted)
    centred = scores - scores.mean(axis=1, keepdims=True)
    assert np.linalg.matrix_rank(centred) == n - 1
    left, sizes, right = np.linalg.svd(centred)
    weights = attention(left[:, : n - 1] * sizes[: n - 1] * np.sqrt(n - 1), right[: n - 1].T, np.eye(n))[1]
    np.testing.assert_allclose(weights, wanted, atol=1e-9)


@pytest.mark.parametrize("n", [5, 20, 50])
@pytest.mark.parametrize("seed", range(8))
def test_two_features_let_each_query_pick_its_winner(seed, n):
    winner = np.random.default_rng(seed).integers(n, size=n)  # any winners, also twice the same
    place = np.arange(n)
    queries = 20 * np.stack([winner, np.ones(n)], axis=1)
    weights = attention(queries, np.stack([place, -(place**2) / 2], axis=1), np.eye(n))[1]
    np.testing.assert_array_equal(weights.argmax(axis=1), winner)
    assert weights.max(axis=1).min() > 0.99


def test_the_pair_that_looks_two_back_leaves_half_a_note_on_the_first_m():
    """Place 1 asks for nothing, so it averages the dot and itself: half a note, which loses against the whole one."""
    letters, word = 4, [0, 1, 3, 2, 1]  # .murm
    query_weight, key_weight = previous_token_head(letters, 5)
    query_weight[letters:] = 99 * np.eye(5, k=-2)
    x = np.hstack([np.eye(letters)[word], np.eye(5)])
    notes = attention(x @ query_weight, x @ key_weight, x[:, :letters], causal=True)[0]
    np.testing.assert_allclose(notes[[1, 3]], [[0.5, 0.5, 0, 0], [0, 1, 0, 0]], atol=1e-3)
    assert induction(word, letters, back=2)[-1].argmax() == 2  # r


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("m", "d"), [(6, 3), (12, 4)])
def test_only_the_products_of_the_weights_count(seed, m, d):
    """An invertible U changes every entry of both weights and nothing else; on one weight alone it changes the head."""
    draw = np.random.default_rng(seed).standard_normal
    x, query_weight, key_weight, mixed = draw((5, m)), draw((m, d)), draw((m, d)), draw((d, d))
    one = attention(x @ query_weight, x @ key_weight, x)[1]
    same = attention(x @ query_weight @ mixed, x @ key_weight @ np.linalg.inv(mixed).T, x)[1]
    np.testing.assert_allclose(same, one, atol=1e-8)
    assert (query_weight != query_weight @ mixed).all()
    assert np.abs(attention(x @ query_weight @ mixed, x @ key_weight, x)[1] - one).max() > 0.05


@pytest.mark.parametrize("seed", range(8))
def test_equal_tokens_leave_a_layer_linear_and_different_ones_do_not(seed):
    draw = np.random.default_rng(seed).standard_normal
    weights = draw((6, 9)), draw((6, 9)), draw((6, 9)), draw((9, 6))

    def layer(x):
        return forward(weights, x, lambda y: split_heads(y, 3), merge_heads)

    one, other = draw((2, 6))
    several = [np.tile(token, (1, 5, 1)) for token in (one, other, 2 * one - 3 * other)]
    np.testing.assert_allclose(layer(several[2]), 2 * layer(several[0]) - 3 * layer(several[1]), atol=1e-9)
    x = draw((1, 5, 6))
    assert np.abs(layer(2 * x) - 2 * layer(x)).max() > 0.1


@pytest.mark.parametrize("seed", range(8))
def test_one_line_before_the_softmax_hides_the_later_tokens(seed):
    """The line of the chapter, for all heads; without it, a later token moves the earlier rows."""
    draw = np.random.default_rng(seed).standard_normal
    n, into, out_weight = 5, draw((3, 6, 8)) / 2, draw((8, 6))
    x = draw((2, n, 6))
    later = x.copy()
    later[:, 3:] = draw((2, 2, 6))

    def layer(x, causal):
        query, key, value = (split_heads(x @ weight, 2) for weight in into)
        scores = query @ key.mT / 2
        if causal:
            scores = np.where(np.tril(np.ones((n, n), dtype=bool)), scores, -np.inf)
        return merge_heads(softmax(scores) @ value) @ out_weight

    np.testing.assert_array_equal(layer(x, True)[:, :3], layer(later, True)[:, :3])
    assert np.abs(layer(x, True)[:, 3:] - layer(later, True)[:, 3:]).max() > 0.1
    assert np.abs(layer(x, False)[:, :3] - layer(later, False)[:, :3]).max() > 0.01


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("letters", "places"), [(3, 6), (6, 20)])
def test_a_note_holds_nine_tenths_of_the_letter_before(seed, letters, places):
    """So a note that matches adds at least 9 of 20/√4 = 10 to a score of the second layer, for four letters."""
    word = np.random.default_rng(seed).integers(letters, size=places)
    own = np.eye(letters)[word]
    x = np.hstack([own, np.eye(places)])
    query_weight, key_weight = previous_token_head(letters, places)
    note = attention(x @ query_weight, x @ key_weight, own, causal=True)[0]
    assert note[np.arange(1, places), word[:-1]].min() > 0.9


TRAINED = Path(__file__).parents[2] / "chapters" / "data" / "trained.npz"


def looks_in_rounds(seed, params, alphabet):
    """The shares of layer 1 at the token before, in both copies, and of layer 2 after the own letter."""
    rng = np.random.default_rng(seed)
    text = 2 * "".join(rng.permutation(list(alphabet))[: rng.integers(5, 11)])
    _, inside = transformer(encode(text, alphabet), params, heads=1)
    layer_1, layer_2 = (P[0] for P in inside.weights)
    i, j = np.indices(layer_2.shape)
    letter = np.array(list(text))
    after = (j > 0) & (j <= i) & (letter[j - 1] == letter[i])
    return np.diagonal(layer_1, -1).mean(), (layer_2 * after).sum(axis=1)[after.any(axis=1)].mean()


def guesses(model, before, seed):
    """The share of right guesses in the second copy of five letters, behind `before` other letters."""
    rng, right = np.random.default_rng(seed), []
    for _ in range(8):
        letters = rng.permutation(list(model.alphabet))[: before + 5]
        text = "".join(letters) + "".join(letters[before:])
        scores, inside = transformer(encode(text, model.alphabet), model.params, heads=1)
        best = np.asarray(scores).argmax(axis=-1)
        wanted = encode(text, model.alphabet)
        right += [best[i] == wanted[i + 1] for i in range(before + 5, before + 9)]
    back = np.diagonal(inside.weights[0][0], -1)
    return np.mean(right), back


@pytest.mark.parametrize("seed", range(8))
def test_the_trained_pair_writes_its_notes_in_the_first_tokens_only(seed):
    trained = load_trained(TRAINED, "induction")
    early, _ = guesses(trained, 0, seed)
    late, back = guesses(trained, 12, seed)
    assert early > 0.95 and late < 0.3
    assert back[:12].min() > 0.8 and back[13:].max() < 0.4


@pytest.mark.parametrize("seed", range(8))
def test_the_built_pair_has_no_such_limit(seed):
    """The same texts, behind a dot: 12 other letters, then five letters twice."""
    letters = 1 + np.random.default_rng(seed).permutation(17)
    word = [0, *letters, *letters[12:]]
    assert np.array_equal(induction(word, 18)[18:22].argmax(axis=1), letters[13:])


@pytest.mark.parametrize("seed", range(100, 116))
def test_the_trained_model_looks_as_the_pair_does_and_an_untrained_one_does_not(seed):
    """Texts of 5 to 10 letters, twice. In shorter texts layer 2, in longer ones layer 1, falls lower."""
    trained = load_trained(TRAINED, "induction")
    one_back, after_own = looks_in_rounds(seed, trained.params, trained.alphabet)
    assert one_back > 0.6
    assert after_own > 0.99
    random = init_transformer(np.random.default_rng(seed), vocabulary=20, n=24, m=48, heads=1, layers=2)
    one_back, after_own = looks_in_rounds(seed, random, trained.alphabet)
    assert max(one_back, after_own) < 0.5


@pytest.mark.parametrize("seed", range(100, 116))
@pytest.mark.parametrize("letters", [7, 10, 12])
def test_without_either_layer_most_guesses_are_wrong(letters, seed):
    """And without the notes, layer 2 no longer finds the right token. (Among five letters, chance is right too often.)"""
    trained = load_trained(TRAINED, "induction")
    rng = np.random.default_rng(seed)
    once = rng.permuted(np.tile(np.arange(20), (25, 1)), axis=1)[:, :letters]
    tokens, right, looks = np.hstack([once, once]), [], []
    for layer in (None, 0, 1):
        params = dict(trained.params)
        if layer is not None:
            params[f"{layer}.out_weight"] = np.zeros_like(params[f"{layer}.out_weight"])
        logits, inside = transformer(tokens, params, heads=1)
        right.append((np.asarray(logits).argmax(axis=-1)[:, letters:-1] == tokens[:, letters + 1 :]).mean())
        looks.append(np.diagonal(inside.weights[1][:, 0], 1 - letters, 1, 2)[:, 1:].mean())
    assert right[0] > 0.95 and max(right[1:]) < 0.35
    assert looks[0] > 0.95 and looks[1] < 0.35
