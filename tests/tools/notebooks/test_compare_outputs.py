"""Two cells have the same outputs if they have the same ones in the same order, and no error or warning is another."""

import copy

import pytest

from tools.notebooks import compare

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M 0 {}"/></svg>'


def printed(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def displayed(**data):
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {kind.replace("_", "/", 1): value for kind, value in data.items()},
    }


def returned(text, count=1):
    return {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": {"text/plain": text}}


def failed(name="ValueError", message="at 0.25", traceback=()):
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": list(traceback)}


FIGURE = {
    "output_type": "display_data",
    "metadata": {},
    "data": {"text/plain": "<Figure>", "image/svg+xml": SVG.format(1)},
}
STORED = [
    printed("weight 0.25\n"),
    printed("careful\n", "stderr"),
    FIGURE,
    displayed(text_html="<p>0.25</p>"),
    failed(),
    returned("0.25"),
]


def altered(place, **fields):
    outputs = copy.deepcopy(STORED)
    data = fields.pop("data", {})
    outputs[place] |= fields
    if data:
        outputs[place]["data"] |= data
    return outputs


@pytest.mark.parametrize(
    "new",
    [
        STORED,
        altered(0, text="weight 0.26\n"),
        altered(2, data={"image/svg+xml": SVG.format(1.2)}),
        altered(2, metadata={"width": 3}),
        altered(3, data={"text/html": "<p>0.26</p>"}),
        altered(4, traceback=["elsewhere"]),
        altered(5, execution_count=7),
        altered(5, data={"text/plain": "0.24"}),
    ],
)
def test_the_same(new):
    assert compare.outputs(STORED, new) == ""
    assert compare.outputs(new, STORED) == ""


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (altered(0, text="weight 0.27\n"), "output 1, stdout: line 1: stored 'weight 0.25', now 'weight 0.27'"),
        (altered(0, name="stderr"), "output 1: stored stdout, now stderr"),
        (altered(1, text="careful!\n"), "output 2, stderr: stored 'careful\\n', now 'careful!\\n'"),
        (altered(2, data={"image/svg+xml": SVG.format(2)}), "output 3, image/svg+xml: picture: point 1 of 1"),
        (altered(2, data={"image/png": "AAAA"}), "output 3: stored image/svg+xml with text/plain, now image/png with"),
        (
            altered(3, data={"text/html": "<p>0.27</p>"}),
            "output 4, text/html: start: line 1: stored '0.25', now '0.27'",
        ),
        (altered(4, ename="TypeError"), "output 5, error: stored 'ValueError', now 'TypeError'"),
        (altered(4, evalue="at 0.26"), "output 5, error message: stored 'at 0.25', now 'at 0.26'"),
        (altered(5, data={"text/plain": "0.27"}), "output 6, text/plain: line 1: stored '0.25', now '0.27'"),
        (STORED[:-1], "output 6: text/plain is missing"),
        ([*STORED, printed("more")], "output 7: stdout was not there"),
        (STORED[1:], "output 1: stored stdout, now stderr"),
        ([STORED[2], *STORED[:2], *STORED[3:]], "output 1: stored stdout, now image/svg+xml with text/plain"),
        ([*STORED[:3], STORED[3], STORED[5], STORED[4]], "output 5: stored error with error message, now text/plain"),
        ([], "output 1: stdout is missing"),
    ],
)
def test_not_the_same(new, said):
    assert compare.outputs(STORED, new).startswith(said), compare.outputs(STORED, new)
    assert compare.outputs(new, STORED)


def test_of_what_is_not_compared_one_has_to_be_there():
    old, new, other = displayed(image_png="AAAA"), displayed(image_png="AAAB"), displayed(image_jpeg="AAAA")
    assert compare.outputs([old], [new], ignored=("image/png",)) == ""
    assert compare.outputs([old], [new]) == "output 1, image/png: stored 'AAAA', now 'AAAB'"
    assert (
        compare.outputs([old], [other], ignored=("image/png", "image/jpeg"))
        == "output 1: stored image/png, now image/jpeg"
    )
    assert compare.outputs([old], [], ignored=("image/png",)) == "output 1: image/png is missing"


def test_data_that_are_no_text_have_to_be_equal():
    old, new = displayed(application_json={"a": 0.25}), displayed(application_json={"a": 0.26})
    assert compare.outputs([old], [copy.deepcopy(old)]) == ""
    assert compare.outputs([old], [new]) == "output 1, application/json: stored \"{'a': 0.25}\", now \"{'a': 0.26}\""


@pytest.mark.parametrize("kind", ["text/plain", "text/html", "text/markdown"])
def test_where_the_last_digit_counts_it_is_told(kind):
    """What the pages' own Python showed otherwise, 0.36 for 0.37, passed for the same."""
    stored, new = "<td>0.37</td>", "<td>0.36</td>"
    assert compare.same(kind, stored, new) == ""
    assert "0.36" in compare.same(kind, stored, new, digits=True)
    assert compare.same(kind, stored, "<td>0.37</td> ".strip(), digits=True) == ""
