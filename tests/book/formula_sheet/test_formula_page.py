"""The page *Look up a formula*: each formula with its sentence, its section and its test, in the order of the book."""

import re
from html import unescape
from pathlib import Path

import pytest

from book import formula_sheet

ROOT = Path(__file__).resolve().parents[3]

ROWS, CHAPTERS = formula_sheet.table(), formula_sheet.book(ROOT)


def plain(text):
    return unescape(re.sub(r"<[^>]*>", "", text)).strip()


@pytest.fixture(scope="module")
def page(site):
    return (site / "chapters" / "formulas.html").read_text(encoding="utf-8")


def test_each_formula_stands_once_with_its_test_in_the_order_of_the_book(page):
    shown = [plain(each).rpartition("Checked by ")[2] for each in re.findall(r'<p class="formula-proof">(.*?)</p>', page, re.S)]
    written = re.findall(r"^Checked by `(.*?)`$", formula_sheet.sheet(ROWS, CHAPTERS), re.M)
    assert shown == written and sorted(shown) == sorted(row["test"] for row in ROWS)
    assert page.count('class="math notranslate" style="--width') == len(ROWS)


def test_a_name_of_a_test_may_break_at_its_words(page):
    assert "tests/<wbr>formulas/<wbr>test_<wbr>flash.py::<wbr>test_<wbr>merge</span>" in page


def test_each_formula_leads_to_its_number_and_its_section(page, site):
    for each in re.findall(r'<p class="formula-proof">(.*?)</p>', page, re.S):
        links = re.findall(r'<a [^>]*href="([\w./]+)#([\w.-]+)"[^>]*>(.*?)</a>', each, re.S)
        assert links
        for file, anchor, words in links:
            target = (site / "chapters" / file).read_text(encoding="utf-8")
            assert f'id="{anchor}"' in target, f"{file}#{anchor}"
            place = target[target.index(f'id="{anchor}"') :]
            if anchor.startswith("equation-"):
                assert plain(words) == re.search(r'<span class="eqno">(\([\d.]+\))', place)[1]
            elif not anchor.startswith("attnlib."):
                heading = re.search(r"<h[1-4]>(.*?)<a class=\"headerlink\"", place, re.S)[1]
                assert plain(words) == plain(re.sub(r"<mjx-math.*?</mjx-math>", "", heading, flags=re.S))


def test_a_formula_is_shown_without_its_box():
    assert formula_sheet.unboxed(r"\boxed{\;a_{i}\;}") == r"a_{i}"
    assert formula_sheet.unboxed(r"a_{i}") == r"a_{i}"
    assert formula_sheet.unboxed(r"\begin{aligned} a, b .\end{aligned}") == r"\begin{aligned} a, b\end{aligned}"


def test_the_order_is_that_of_the_chapters_whatever_the_order_of_the_table():
    assert formula_sheet.sheet(ROWS[:60][::-1], CHAPTERS) == formula_sheet.sheet(ROWS[:60], CHAPTERS)
