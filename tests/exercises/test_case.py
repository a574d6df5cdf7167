"""attnexercises.failing_case.case: the smallest failing case, to play with and to read.

That every known mistake has one, `test_known_mistakes.py` holds.
"""

import pickle

import numpy as np
import pytest
from answers import right
from notebook_tools import unwrapped
from reader_cases import no_shift

from attnexercises import TODO, case, check, grade
from attnexercises.engine.calls import TIME_LIMIT
from attnexercises.engine.registry import find
from attnexercises.engine.timelimit import TimeUp
from attnexercises.failing_case import as_html, smallest
from attnexercises.failing_case.case import Case


def case_of(id, answer):
    return grade(id, answer, details=True).case


def bug(id, mistake):
    return find(id).family(frozenset({mistake}))


# --- the smallest case ----------------------------------------------------------------------------


def test_axes_that_belong_together_stay_together():
    found = case_of("mha", bug("mha", "no_scale"))
    (b, n, m), (m_again, hd) = found["x"].shape, found["query_weight"].shape
    assert m == m_again and found["key_weight"].shape == (m, hd) and found["out_weight"].shape[1] == m
    assert hd % found["heads"] == 0 and b == 1


def test_what_follows_from_other_arguments_is_computed_anew():
    found = case_of("flash_backward", bug("flash_backward", "paren"))
    scores = found["query"] @ found["key"].T / np.sqrt(found["query"].shape[1])
    np.testing.assert_allclose(found["logsumexp"], np.logaddexp.reduce(scores, axis=1))
    np.testing.assert_allclose(found["out"], np.exp(scores - found["logsumexp"][:, None]) @ found["value"])
    assert found["key"].shape == (2, 1)


def test_shares_of_one_stay_shares_of_one():
    found = case_of("softmax_backward", bug("softmax_backward", "sigmoid"))
    np.testing.assert_allclose(found["weights"].sum(axis=-1), 1)
    assert found["weights"].shape == (2,)


@pytest.mark.parametrize("mistake", find("cross_entropy_backward").mistakes, ids=lambda mistake: mistake.id)
def test_a_mean_over_positions_keeps_one(mistake):
    found = case_of("cross_entropy_backward", bug("cross_entropy_backward", mistake.id))
    assert found["keep"].any() and np.isfinite(found.wanted[0]).all()


def test_a_case_counts_only_if_it_fails_in_the_same_way():
    def wrong_on_five(x):  # NaN for one score, another wrong number for five
        return right(x) + (0.5 if x.shape[-1] == 5 else np.nan if x.shape[-1] == 1 else 0)

    found = case_of("softmax", wrong_on_five)
    assert found["x"].shape == (5,) and np.isfinite(found.got).all()


def test_where_two_explanations_fit_there_is_a_case_too():
    result = grade("softmax", find("softmax").family(frozenset({"axis_0", "no_division"})), details=True)
    assert "Either" in result.lines[0] and result.case["x"].size < 7


def test_the_number_of_tries_is_limited():
    calls = []

    def slow_to_fail(x):
        calls.append(x.shape)
        return right(x) + (x.size == 30)

    result = grade("softmax", slow_to_fail)
    before = len(calls)
    result = grade("softmax", slow_to_fail, details=True)
    assert result.case["x"].shape == (2, 3, 5) and len(calls) <= 2 * before + smallest.MOST_TRIES + 1


def test_a_case_on_which_an_answer_never_ends_is_the_last_that_is_tried():
    """No clock decides here: `TimeUp` is what the judge sees of such an answer."""
    tried = []

    def endless_on_less(x):
        if x.size < 30 and x.ndim == 3 and x.shape[1] != 1:
            tried.append(x.shape)
            raise TimeUp(TIME_LIMIT)
        return right(x) + (x.size == 30)

    assert case_of("softmax", endless_on_less)["x"].shape == (2, 3, 5) and len(tried) == 1


def test_when_its_time_is_over_the_search_keeps_what_it_has(monkeypatch):
    monkeypatch.setattr(smallest, "SECONDS", 0.0)
    assert case_of("softmax", lambda x: 2 * right(x))["x"].shape == (2, 3, 5)


def test_no_array_is_rounded_away():
    found = case_of("linear_backward", lambda d_out, x, weight: (d_out @ weight, d_out))
    assert all(array.any() for array in found)


# --- the object -----------------------------------------------------------------------------------


def test_it_is_unpacked_named_and_plain_data():
    found = case_of("sdpa_backward", bug("sdpa_backward", "no_scale"))
    assert isinstance(found, Case) and found.exercise == "sdpa_backward" and found.label == "all sizes differ"
    d_out, query, key, value = found
    assert len(found) == 4 and found["key"] is key and found[1] is query and found.arguments[3] is value
    assert found.shapes == {"d_out": (1, 1), "query": (1, 2), "key": (2, 2), "value": (2, 1)}
    d_query, d_key, d_value = find("sdpa_backward").solution(*found)
    np.testing.assert_allclose(found.expected[1], d_key)
    np.testing.assert_allclose(found.got[0], np.sqrt(2) * d_query)
    assert found.wrong == (True, True, False)
    with pytest.raises(KeyError, match="sdpa_backward has no argument 'keys'; there are: d_out, query, key, value"):
        found["keys"]
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


def test_each_time_it_is_a_copy():
    check("softmax", no_shift)
    case("softmax")["x"][:] = 0
    assert case("softmax")["x"] == 998.0 and case("softmax").expected == 1 and np.isnan(case("softmax").got).all()
    assert right(*case("softmax")) == 1


def test_an_output_that_stops_has_no_values():
    found = case_of("softmax", lambda x: x @ x)
    assert found.got is None and found.problem.startswith("stops with ValueError: matmul")


def said(capsys, id):
    assert case(id) is None
    return unwrapped(capsys.readouterr().out)


def test_where_there_is_no_case_a_sentence_says_why(capsys):
    none_yet = 'No answer to softmax has gone wrong in this session: check("softmax", softmax) looks for a case.'
    assert said(capsys, "softmax") == none_yet
    check("softmax", TODO)
    capsys.readouterr()
    assert said(capsys, "softmax") == none_yet
    check("softmax", right)
    capsys.readouterr()
    assert said(capsys, "softmax") == "Your last softmax passed: no case goes wrong."
    check("softmax", 3)
    capsys.readouterr()
    assert said(capsys, "softmax") == "What the last check of softmax said is not about a single case."
    check("delta_sum", 3)
    capsys.readouterr()
    assert said(capsys, "delta_sum") == "delta_sum asks for a value: there are no cases."
    with pytest.raises(ValueError, match="Did you mean 'softmax'"):
        case("softmx")


def test_without_being_asked_the_judge_does_not_look_for_a_case():
    assert grade("softmax", no_shift).case is None


# --- as text --------------------------------------------------------------------------------------


def test_numbers_stand_in_one_line_if_they_are_few(capsys):
    check("causal_mask", bug("causal_mask", "top_left"))
    assert capsys.readouterr().out.endswith(
        '    Smallest case that goes wrong, case("causal_mask"), from "3 queries, 5\n'
        '    keys":\n'
        "      q                 1\n"
        "      k                 2\n"
        "      expected  (1, 2)  [[True, True]]\n"
        "      got       (1, 2)  [[True, False]]\n"
    )


def test_of_several_outputs_two_wrong_ones_are_shown_and_the_most_telling_first():
    def answer(d_out, query, key, value):
        d_query, d_key, d_value = find("sdpa_backward").solution(d_out, query, key, value)
        return 2 * d_query, d_key * np.nan, d_value.mT

    text = repr(case_of("sdpa_backward", answer))
    names = [line.split(",")[0].strip() for line in text.splitlines() if ", got" in line]
    assert names == ["d_value", "d_key"]


def test_digits_are_added_until_a_difference_shows():
    text = repr(case_of("softmax", lambda x: right(x) * (1 + 1e-7)))
    assert "expected  (1,)  [1.]" in text and "got       (1,)  [1.0000001]" in text
    text = repr(case_of("softmax", lambda x: right(x).astype(np.float32)))
    assert "[1.] (float64)" in text and "[1.] (float32)" in text


def test_what_returns_the_right_values_in_a_wrong_way_is_told():
    assert repr(case_of("softmax", bug("softmax", "inplace"))).endswith("the right values, but it changes its input x")
    assert "the right values, but it returns a tuple of one" in repr(case_of("softmax", lambda x: (right(x),)))


def far_wrong(x):
    """Wrong above the diagonal, and only for squares of four."""
    return right(x) + np.triu(np.ones((4, 4)), 1) if x.shape == (4, 4) else right(x)


def test_of_a_large_matrix_text_and_picture_show_where_it_is_wrong():
    found = case_of("softmax", far_wrong)
    text = repr(found)
    assert "6 of 16 entries are wrong: those above the diagonal\n" in text
    assert [line.strip() for line in text.splitlines()[-4:]] == ["· × × ×", "· · × ×", "· · · ×", "· · · ·"]
    html = found._repr_html_()
    assert html.count(">×<") == 6 and html.count(">·<") == 10
    assert '<div aria-hidden="true"' in html and "6 of 16 entries are wrong: those above the diagonal" in html


# --- as HTML --------------------------------------------------------------------------------------


def test_the_table_names_its_rows_and_marks_what_is_wrong():
    html = case_of("causal_mask", bug("causal_mask", "top_left"))._repr_html_()
    rows = [part.partition(">")[2].partition("<")[0] for part in html.split('<th scope="row"')[1:]]
    assert rows == ["q", "k", "expected", "got"]
    assert html.count('<span role="img" aria-label="wrong">×</span> False') == 1
    assert "<code>case(&quot;causal_mask&quot;)</code>, from &quot;3 queries, 5 keys&quot;:</figcaption>" in html
    assert "#" not in html.replace(as_html._WRONG, "")  # no colour but that of the mark: it holds in both schemes


def test_what_an_answer_says_is_no_markup():
    def answer(x):
        raise ValueError("<b>bold</b>")

    html = case_of("softmax", answer)._repr_html_()
    assert "<b>" not in html and "&lt;b&gt;bold" in html
