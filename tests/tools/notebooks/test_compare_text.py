"""Two texts are the same if a reader takes them for the same: every word, and every number but for its last digit."""

import numpy as np
import pytest

from tools.notebooks import compare
from tools.notebooks.compare import text

SAME = {
    "last digit up": ("weight 0.245", "weight 0.246"),
    "last digit down": ("weight 0.245", "weight 0.244"),
    "first decimal": ("about 12800.0", "about 12799.9"),
    "carried over": ("1.999 of it", "2.000 of it"),
    "negative": ("slope -0.0897", "slope -0.0898"),
    "zero with a sign": ("sum 0.00", "sum -0.00"),
    "zero with either sign": ("sum +0.00", "sum -0.00"),
    "zero without decimals": ("[0. 1.]", "[-0. 1.]"),
    "whole zero": ("-0", "0"),
    "across zero": ("[ 0.00  1.00]", "[-0.01  1.00]"),
    "without a leading zero": ("p = .25", "p = .26"),
    "a typeset minus": ("\u22120.25", "\u22120.26"),
    "exponent": ("error 1.3e-02", "error 1.4e-02"),
    "exponent, no decimals": ("error 1e-05", "error 9e-06"),
    "exponent, another one": ("error 1.0e-03", "error 9.9e-04"),
    "exponent, other signs": ("error 1.0E+00", "error 9.9E-01"),
    "power of ten in TeX": (r"$2.5 \times 10^{-7}$", r"$2.4 \times 10^{-7}$"),
    "power of ten in a line": ("2.5 × 10^-7", "2.4 × 10^-7"),
    "thousands": ("65,535.99 MiB", "65,536.00 MiB"),
    "one more thousand": ("999.99 MiB", "1,000.00 MiB"),
    "with a unit": ("1.5x faster, 67.1M, 0.78%", "1.6x faster, 67.2M, 0.79%"),
    "part of a formula": ("n^3.1 and d=0.25, (0.5)", "n^3.0 and d=0.26, (0.4)"),
    "difference of two": ("2.50-0.25", "2.50-0.24"),
    "between backticks": ("`0.25`", "`0.26`"),
    "end of a sentence": ("It is 0.25.", "It is 0.26."),
    "wider, aligned to the right": ("mean  9.99  std 1.00", "mean 10.00  std 1.00"),
    "wider, aligned to the left": ("9.99   mean", "10.00  mean"),
    "wider, and so is its column": ("   T  loss\n1.00  9.99\n2.00  1.00", "   T   loss\n1.00  10.00\n2.00   1.00"),
    "narrower": ("(10.00, 1.00)", "(9.99, 1.00)"),
    "trailing zeros left out": ("[0.09   0.2447]", "[0.0901 0.2447]"),
    "all decimals left out": ("[1. 0.]", "[0.9999 0.    ]"),
    "in a nested array": ("[[0.09 1.  ]\n [0.2  0.3 ]]", "[[0.1  1.  ]\n [0.2  0.29]]"),
}

DIFFERENT = {
    "two in the last digit": ("weight 0.245", "weight 0.247"),
    "two, across zero": ("-0.01", "0.01"),
    "two in the last digit, exponent": ("error 1.3e-02", "error 1.5e-02"),
    "another exponent": ("error 1.3e-02", "error 1.3e-03"),
    "two of the smaller unit": ("error 1.0e-03", "error 9.8e-04"),
    "rounding noise": ("9.9e-16", "1.1e-15"),
    "nothing and noise": ("0.0e+00", "1.1e-16"),
    "another power of ten in TeX": (r"$2.5 \times 10^{-7}$", r"$2.5 \times 10^{-6}$"),
    "another sign": ("-0.25", "0.25"),
    "a plus": ("+0.25", "0.25"),
    "a plus, one unit": ("+0.25", "0.26"),
    "a count": ("12 keys", "13 keys"),
    "a negative count": ("-1", "0"),
    "a count of thousands": ("2,047", "2,048"),
    "a leading zero": ("007", "07"),
    "a shape": ("(2, 3)", "(2, 4)"),
    "a count that became a mean": ("3 of 4", "2.9 of 4"),
    "a mean that became a count": ("3.0 of 4", "3 of 4"),
    "no decimals shown": ("[1. 2.]", "[2. 2.]"),
    "few decimals of many": ("[0.09   0.2447]", "[0.1    0.2447]"),
    "few decimals of many, nested": ("[[0.09]\n [0.2447]]", "[[0.1 ]\n [0.2447]]"),
    "outside of the array": ("[0.2447] 0.5", "[0.2447] 0.7"),
    "one decimal more": ("0.25", "0.250"),
    "one decimal more, one unit": ("0.25", "0.260"),
    "one digit more, far away": ("0.5", "0.41"),
    "thousands without comma": ("1,000.00", "1000.00"),
    "swapped columns": ("cat 0.15 mat 0.25", "cat 0.25 mat 0.15"),
    "two numbers of one": ("0.25", "0. 25"),
    "one number of two": ("1 2", "12"),
    "a number less": ("0.25 0.50", "0.25"),
    "a number more": ("0.25", "0.25 0.50"),
    "not a number": ("[nan 0.5]", "[0.1 0.5]"),
    "a number no more": ("[0.1 0.5]", "[nan 0.5]"),
    "infinite": ("inf", "-inf"),
    "a word": ("passed: True", "passed: False"),
    "a letter's case": ("right", "Right"),
    "a mark": ("a, b", "a; b"),
    "a version": ("numpy 1.22.3", "numpy 1.22.4"),
    "a version with a sign": ("numpy-1.22.3", "numpy-1.22.4"),
    "a version with a letter": ("v1.5", "v1.6"),
    "a name with a digit": ("x2 = 0.5", "x3 = 0.5"),
    "a name with a point": ("out_proj.1", "out_proj.2"),
    "a type": ("float32", "float64"),
    "an address": ("0x1.5", "0x2.5"),
    "a number that became a name": ("x 2.5", "x2.5"),
    "a date": ("2026-11-21", "2026-11-22"),
    "a space more": ("a b", "a  b"),
    "a space less": ("a b", "ab"),
    "a space more beside a number": ("a 0.25", "a  0.25"),
    "a space more, and a unit": ("a 0.25", "a  0.26"),
    "a line broken elsewhere": ("a 0.25\nb", "a\n0.25 b"),
    "a line broken elsewhere, and a wider number": ("a 9.99\nb", "a\n10.00 b"),
    "words joined, and a wider number": ("a b 9.99", "ab 10.00"),
    "a line more": ("a\nb", "a\n\nb"),
    "a line less": ("a 0.25\nb 0.50\n", "a 0.25\n"),
    "no end of line": ("a\n", "a"),
    "nothing": ("a", ""),
    "something": ("", "a"),
    "lines exchanged": ("a 0.25\nb 0.50", "b 0.50\na 0.25"),
}


@pytest.mark.parametrize(("stored", "new"), SAME.values(), ids=SAME)
def test_texts_that_a_reader_takes_for_the_same(stored, new):
    assert text.difference(stored, new) == ""
    assert text.difference(new, stored) == ""
    assert compare.same("stdout", stored, new) == compare.same("text/plain", stored, new) == ""


@pytest.mark.parametrize(("stored", "new"), DIFFERENT.values(), ids=DIFFERENT)
def test_texts_that_a_reader_tells_apart(stored, new):
    assert text.difference(stored, new).startswith("line ")
    assert text.difference(new, stored).startswith("line ")
    for kind in ("stdout", "text/plain", "text/latex", "text/markdown"):
        assert compare.same(kind, stored, new).startswith("line ")


@pytest.mark.parametrize("kind", ["stderr", "error", "error message", "application/json", "text/x-unknown"])
def test_what_is_no_page_has_to_be_equal(kind):
    assert compare.same(kind, "0.245", "0.245") == ""
    assert compare.same(kind, "0.245", "0.246") == "stored '0.245', now '0.246'"


@pytest.mark.parametrize(
    ("stored", "new", "differs"),
    [
        ("so 0.25", "so 0.26", False),
        ("```python\nx = 0.25\n```\nso 0.25", "```python\nx = 0.25\n```\nso 0.26", False),
        ("```python\nx = 0.25\n```", "```python\nx = 0.26\n```", True),
        ("```python\nx = 1e-05\n```", "```python\nx = 2e-05\n```", True),
        ("so `eps=1e-5`", "so `eps=2e-5`", True),
        ("```python\nif x:\n    y\n```\n9.99", "```python\nif x:\n  y\n```\n10.00", True),
    ],
)
def test_code_in_markdown_is_not_computed(stored, new, differs):
    assert bool(compare.same("text/markdown", stored, new)) is differs


def test_an_array_whose_lines_break_elsewhere_since_a_number_got_wider():
    stored, new, other = np.full(16, 0.125), np.full(16, 0.125), np.full(16, 0.125)
    stored[7], new[7], other[7] = 0.0, -0.0, -0.25
    assert str(stored).index("\n") != str(new).index("\n")
    assert text.difference(f"weights {stored}", f"weights {new}") == ""
    assert text.difference(f"weights {stored}", f"weights {other}") != ""


@pytest.mark.parametrize("how", [".1f", "8.3f", "+.2f", ",.2f", ".1e", ".0e", ".3e"])
def test_a_number_on_the_edge_between_two_roundings(how):
    """What noise does to a number, whatever its size: the two beside the edge are one, the next but one is not."""
    digits = int(how[-2])
    scientific = how[-1] == "e"
    smallest, largest = 10**digits, 10 ** (digits + 1) - 1
    for number in (smallest, smallest + 1, largest) if scientific else (0, 1, 9, 99, 12345):
        for power in (-7, -1, 0, 3) if scientific else (0,):
            for sign in (-1, 1):
                edge = sign * (number + 0.5) * 10.0 ** (power - digits)
                left, right = format(edge * (1 - 1e-9), how), format(edge * (1 + 1e-9), how)
                assert left != right
                assert text.difference(f"a {left} b", f"a {right} b") == ""
                beyond = format(sign * (number + 2) * 10.0 ** (power - digits), how)
                if beyond != right:  # 9.9e-04 has only one neighbour below 1.1e-03
                    assert text.difference(f"a {left} b", f"a {beyond} b") != ""


def test_the_sentence_says_where_and_what():
    said = text.difference("a\nmean  0.25\nb", "a\nmean  0.52\nb")
    assert said == "line 2: stored 'mean  0.25', now 'mean  0.52'"
    assert text.difference("a", "a\nb") == "line 1: stored 'a' and no more, now 'a'"
    long = "x" * 500 + " {} " + "y" * 500
    assert len(text.difference(long.format("left"), long.format("right"))) < 300
