"""What is said of a value that was answered, measured anew."""

import numpy as np
from truth_seen import claim


@claim(r"your number is (?P<n>\d+) times (?P<how>the right one|too small)")
def value_times(seen, pairs, m):
    (got, want, _), n = pairs[0], int(m["n"])
    return np.isclose(got, want * n if m["how"] == "the right one" else want / n, rtol=1e-3)


@claim(r"your number is too (?P<much>large|small)(?:: the right number lies (?P<where>below|above) it)?")
def value_side(seen, pairs, m):
    above = bool(pairs[0][0] > pairs[0][1])
    return above == (m["much"] == "large") and (not m["where"] or above == (m["where"] == "below"))


@claim(r"the sign is wrong")
def value_sign(seen, pairs, m):
    return np.isclose(-pairs[0][0], pairs[0][1], rtol=1e-3)


@claim(r"that is the right number rounded to (?P<digits>\d) digits?; give it in full")
def value_rounded(seen, pairs, m):
    return float(pairs[0][0]) == float(f"%.{int(m['digits']) - 1}e" % float(pairs[0][1]))


@claim(r"(?P<k>\d+) of (?P<of>\d+) numbers (?:are|is) wrong")
def value_counts(seen, pairs, m):
    got, want, _ = pairs[0]
    return (int((got != want).sum()), want.size) == (int(m["k"]), int(m["of"]))


@claim(r"the right numbers, in another order")
def value_order(seen, pairs, m):
    return sorted(pairs[0][0].ravel()) == sorted(pairs[0][1].ravel()) and (pairs[0][0] != pairs[0][1]).any()


@claim(r"your tuple has (?P<k>\d+) numbers?; (?P<of>\d+) are expected")
def value_length(seen, pairs, m):
    return (pairs[0][0].size, pairs[0][1].size) == (int(m["k"]), int(m["of"])) and m["k"] != m["of"]


@claim(r"'(?P<word>.*)' is not one of the words (?P<words>[\w, ]+)")
def value_word(seen, pairs, m):
    words = m["words"].split(", ")
    return m["word"] == str(pairs[0][0]) and m["word"] not in words and str(pairs[0][1]) in words


@claim(r"a bare number is expected, not a list, a tuple or an array")
def value_bare(seen, pairs, m):
    return pairs[0][0].shape == (1,) and pairs[0][1].ndim == 0


@claim(r"one number is expected, not (?P<k>\d+)")
def value_one(seen, pairs, m):
    return pairs[0][0].size == int(m["k"]) != 1 and pairs[0][1].ndim == 0


@claim(r"a tuple of numbers is expected, not (?P<what>one number|a word)")
def value_tuple(seen, pairs, m):
    return pairs[0][1].ndim == 1 and (pairs[0][0].dtype.kind == "U" if m["what"] == "a word" else pairs[0][0].ndim == 0)


@claim(r"a (?P<wanted>word|number) is expected, not a (?P<given>word|number)")
def value_kind(seen, pairs, m):
    return m["wanted"] != m["given"] and [a.dtype.kind == "U" for a in pairs[0][:2]] == [
        m["given"] == "word", m["wanted"] == "word"]  # fmt: skip
