"""Wrong answers to `paper_mask`, as readers may write them."""

import numpy as np

from . import wrong


@wrong("paper_mask", "causal, out of habit", named=("causal",))
def only_the_past(i, j, window, has_global):
    inside = (j <= i) & (i - j <= window // 2)
    return inside | has_global[i] | has_global[j]


@wrong("paper_mask", "causal everywhere, for the global tokens as well", named=("causal", "causal_everywhere"), says=r"are True")
def causal_altogether(i, j, window, has_global):
    return (j <= i) & ((i - j <= window // 2) | has_global[i] | has_global[j])


@wrong("paper_mask", "the sliding window of the chapter", named=("one_sided", "whole_window", "looks_back"), says=r"are True")
def window_of_the_chapter(i, j, window, has_global):
    return (i - j < window) | has_global[i] | has_global[j]


@wrong("paper_mask", "the difference without its sign forgotten", named=("one_sided",))
def no_absolute_value(i, j, window, has_global):
    return (i - j <= window // 2) | has_global[i] | has_global[j]


@wrong("paper_mask", "the whole window on each side", named=("whole_window",))
def window_on_each_side(i, j, window, has_global):
    near = np.absolute(j - i) <= window
    return np.logical_or(near, np.logical_or(has_global[i], has_global[j]))


@wrong("paper_mask", "half of the window, not inclusive", named=("strict",))
def half_exclusive(i, j, window, has_global):
    half = window / 2
    return (abs(i - j) < half) | has_global[i] | has_global[j]


@wrong("paper_mask", "neighbours without the token itself", named=("not_itself",))
def neighbours_only(i, j, window, has_global):
    distance = np.abs(i - j)
    return ((distance > 0) & (distance <= window // 2)) | has_global[i] | has_global[j]


@wrong("paper_mask", "the global tokens look, but nobody looks at them", named=("global_sees",))
def rows_of_global(i, j, window, has_global):
    mask = np.abs(i - j) <= window // 2
    return np.where(has_global[i], True, mask)


@wrong("paper_mask", "everybody looks at the global tokens, which look at their neighbours", named=("global_is_seen",))
def columns_of_global(i, j, window, has_global):
    mask = np.abs(i - j) <= window // 2
    mask[:, has_global[j]] = True
    return mask


@wrong("paper_mask", "global tokens among themselves", named=("global_pairs",))
def global_among_themselves(i, j, window, has_global):
    return (np.abs(i - j) <= window // 2) | (has_global[i] * has_global[j])


@wrong("paper_mask", "exactly one of the two is global", named=("global_exactly_one",), says=r"are True|False")
def one_but_not_both(i, j, window, has_global):
    return (np.abs(i - j) <= window // 2) | (has_global[i] ^ has_global[j])


@wrong("paper_mask", "the first sentence alone", named=("only_window",))
def first_sentence(i, j, window, has_global):
    return np.abs(i - j) <= window // 2


@wrong("paper_mask", "the second sentence alone", named=("only_global",))
def second_sentence(i, j, window, has_global):
    return has_global[i] | has_global[j]


@wrong("paper_mask", "both sentences have to allow a pair", named=("and",))
def both_sentences(i, j, window, has_global):
    near = np.abs(i - j) <= window // 2
    return near & (has_global[i] | has_global[j])


@wrong("paper_mask", "places in the block for positions in the text", named=("block_places",))
def places_in_the_block(i, j, window, has_global):
    mask = np.zeros((len(i), len(j)), dtype=bool)
    for a in range(len(i)):
        for b in range(len(j)):
            mask[a, b] = abs(a - b) <= window // 2 or has_global[a] or has_global[b]
    return mask


@wrong("paper_mask", "positions for the window, places for the global tokens", named=("global_places",), says=r"are True|False")
def places_of_the_global_tokens(i, j, window, has_global):
    mask = np.abs(i - j) <= window // 2
    mask[has_global[: len(i)]] = True
    mask[:, has_global[: len(j)]] = True
    return mask


@wrong("paper_mask", "True is hidden", named=("inverted",))
def true_is_hidden(i, j, window, has_global):
    return (np.abs(i - j) > window // 2) & ~has_global[i] & ~has_global[j]


@wrong("paper_mask", "the additive mask", named=("additive",))
def minus_infinity(i, j, window, has_global):
    mask = (np.abs(i - j) <= window // 2) | has_global[i] | has_global[j]
    return np.where(mask, 0, -np.inf)


@wrong("paper_mask", "ones and zeros", says=r"True or False is expected")
def ones_and_zeros(i, j, window, has_global):
    mask = (np.abs(i - j) <= window // 2) | has_global[i] | has_global[j]
    return mask.astype(int)


@wrong("paper_mask", "keys down, queries across", says=r"\(7, 4\); \(4, 7\)")
def keys_down(i, j, window, has_global):
    mask = (np.abs(i - j) <= window // 2) | has_global[i] | has_global[j]
    return mask.T


@wrong("paper_mask", "one row, that of the first query", says=r"\(7,\); \(4, 7\)")
def one_row(i, j, window, has_global):
    query = i[0, 0]
    return (np.abs(query - j) <= window // 2) | has_global[query] | has_global[j]


@wrong("paper_mask", "global tokens also see one step further", named=("one_more",), says=r"are True|False")
def half_rounded_up(i, j, window, has_global):
    return (np.abs(i - j) <= (window + 2) // 2) | has_global[i] | has_global[j]
