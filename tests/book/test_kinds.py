"""Is one page of every kind looked at on every push? A page with a new kind of block must not be forgotten."""

import pytest
from kinds import LOOKED_AT, kinds, overlooked
from watched import PAGES


ELSEWHERE = {".live-model"}  # of a page that runs and opens a trained model: live/test_browser_model.py looks at it


@pytest.fixture(scope="module")
def kinds_of(site):
    return {name: kinds((site / name).read_text(encoding="utf-8")) for name in PAGES}


def test_every_kind_of_block_is_on_a_page_that_is_looked_at(kinds_of, record_property):
    assert overlooked(kinds_of, LOOKED_AT).keys() <= ELSEWHERE, "put the cheapest page that has it into LOOKED_AT of kinds.py"
    record_property("checked kinds of block on the pages looked at", len(set().union(*kinds_of.values())))


def test_what_only_one_page_has_is_missed_without_it(kinds_of):
    left = [name for name in LOOKED_AT if name != "chapters/costs.html"]
    assert overlooked(kinds_of, left)[".cost-calculator"] == "chapters/costs.html"


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ('<details class="riddle">', ".riddle"),
        ('<p class="a  riddle b" id="x">', ".riddle"),
        ("<meter>", "meter"),
        ('<div role="tree">', "[role=tree]"),
        ('<input type="color">', "input[type=color]"),
        ('<script defer src="../_static/riddle.js?v=1">', "script riddle.js"),
        ('<figure class="riddle"><svg class="x"><g class="y"></g></svg>', ".riddle"),
    ],
)
def test_a_new_kind_is_noticed(block, kind, kinds_of):
    name = "chapters/10_decoding.html"
    changed = {**kinds_of, name: kinds_of[name] | kinds(block)}
    assert overlooked(changed, LOOKED_AT)[kind] == name


@pytest.mark.parametrize("block", ['<pre class="x"><span class="zz">a</span></pre>', '<svg class="x"><g class="zz"></g></svg>', '<p class="query tag_zz">'])
def test_a_colour_alone_is_no_kind(block):
    assert not {".zz", ".query", ".tag_zz"} & kinds(block)
