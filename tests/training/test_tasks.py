"""attnlib.training: is a batch what its task says? Text to integers and back."""

import numpy as np
import pytest

from attnlib.training import alphabet_of, decode, encode, induction_batch, reversal_batch, text_batch, words_batch


def test_reversal_targets_are_the_tokens_backwards(rng):
    batch = reversal_batch(rng, b=40, n=7, vocabulary=5)
    for tokens, targets in zip(batch.tokens, batch.targets, strict=True):
        assert list(targets) == list(tokens)[::-1]
    assert batch.tokens.shape == (40, 7) and batch.keep.all()
    assert set(batch.tokens.ravel()) == set(range(5)) and batch.targets.flags.owndata


def test_induction_repeats_a_segment_of_different_tokens(rng):
    batch = induction_batch(rng, b=60, n=11, vocabulary=8, shortest=3, longest=6)
    lengths = set()
    for tokens, targets, keep in zip(*batch, strict=True):
        length = int(keep.argmax())  # the first place whose target can be known: the second round begins
        lengths.add(length)
        assert keep[length:].all() and len(set(tokens[:length])) == length
        assert list(tokens[length:]) == list(tokens[:-length])
        assert list(targets[:-1]) == list(tokens[1:]) and targets[-1] == tokens[11 - length]
        # What is kept can be known: what followed the token last time follows it now.
        for i in np.flatnonzero(keep):
            last = max(j for j in range(i) if tokens[j] == tokens[i])
            assert targets[i] == tokens[last + 1]
    assert lengths == {3, 4, 5, 6} and set(batch.tokens.ravel()) == set(range(8))


def test_the_tokens_of_a_segment_are_drawn_evenly(rng):
    first = induction_batch(rng, b=8000, n=3, vocabulary=4, shortest=2, longest=2).tokens[:, :2]
    pairs = np.bincount(first @ [4, 1], minlength=16).reshape(4, 4) / 8000
    assert not pairs.diagonal().any()
    assert abs(pairs[~np.eye(4, dtype=bool)] - 1 / 12).max() < 0.015  # five standard deviations


def test_words_come_again_whole_and_share_no_letter(rng):
    batch = words_batch(rng, b=60, n=30, vocabulary=12, words=3, shortest=2, longest=4)
    lengths, orders = set(), set()
    for tokens, targets, keep in zip(*batch, strict=True):
        text = [*tokens, targets[-1]]
        assert list(targets[:-1]) == list(tokens[1:])
        # Each letter is followed by one letter only, but for the last of a word: there a new word begins.
        followers = [{text[j + 1] for j in range(30) if text[j] == text[i]} for i in range(30)]
        assert all(followers[i] == {targets[i]} for i in np.flatnonzero(keep))
        for i in np.flatnonzero(keep):
            assert tokens[i] in tokens[:i]  # its word was there before
        starts = [i for i in range(30) if keep[i] and not keep[i - 1]]
        lengths |= {int(1 + keep[i:].argmin()) for i in starts if not keep[i:].all()}
        orders |= {tuple(np.diff(starts)[:4])}
    assert lengths == {2, 3, 4} and len(orders) > 30 and set(batch.tokens.ravel()) == set(range(12))


def test_windows_of_a_text_come_from_everywhere(rng):
    text = np.arange(10, 19)
    batch = text_batch(rng, text, b=200, n=5)
    np.testing.assert_array_equal(np.diff(batch.tokens, axis=1), np.ones((200, 4)))
    np.testing.assert_array_equal(batch.targets, batch.tokens + 1)
    assert set(batch.tokens[:, 0]) == {10, 11, 12, 13} and batch.keep.all()


@pytest.mark.parametrize("make", [
    lambda rng: reversal_batch(rng, b=2, n=3, vocabulary=4),
    lambda rng: induction_batch(rng, b=2, n=5, vocabulary=4, shortest=2, longest=3),
    lambda rng: words_batch(rng, b=2, n=5, vocabulary=6, words=2, shortest=2, longest=3),
    lambda rng: text_batch(rng, range(50), b=2, n=5),
], ids=["reversal", "induction", "words", "text"])  # fmt: skip
def test_the_same_seed_gives_the_same_batches_in_64_bits(make):
    first, again = make(np.random.default_rng(3)), make(np.random.default_rng(3))
    other = make(np.random.default_rng(4))
    for name in ("tokens", "targets", "keep"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert (first.tokens != other.tokens).any()
    assert first.tokens.dtype == first.targets.dtype == np.int64 and first.keep.dtype == bool


def test_text_to_integers_and_back():
    text = "to be, or not to be\nβ"
    alphabet = alphabet_of(text)
    tokens = encode(text, alphabet)
    assert sorted(set(text)) == list(alphabet) and set(tokens) == set(range(len(alphabet)))
    assert decode(tokens, alphabet) == text and decode([], alphabet) == "" and encode("", alphabet).shape == (0,)
