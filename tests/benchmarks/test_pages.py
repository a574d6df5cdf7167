"""benchmarks/pages.py: the table of how long a reader waits in a page that runs."""

import pages
import pytest


def test_a_row_has_medians_and_in_brackets_the_shortest_and_the_longest():
    visits = [pages.Visit(26.0, 4, 6, 7), pages.Visit(26.0, 1, 2, 3), pages.Visit(26.5, 2, 3, 9)]
    head, _, row = pages.table({("the first figure", "cold"): visits}).splitlines()
    assert head == "| what | visit | MB sent | fetched, s | Python started, s | result, s |"
    assert row == "| the first figure | cold | 26.0 | 2.0 (1.0 to 4.0) | 3.0 (2.0 to 6.0) | 7.0 (3.0 to 9.0) |"


def test_a_site_without_a_python_says_what_to_do(tmp_path):
    with pytest.raises(SystemExit, match="run: make live"):
        pages.main(["--site", str(tmp_path)])
