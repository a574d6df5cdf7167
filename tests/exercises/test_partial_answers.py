"""attnexercises.engine.partial_answers: outputs that no blank touches are judged while others are still to do."""

from dataclasses import replace

import numpy as np
import pytest
from answers import right as softmax
from exercise_cases import FUNCTIONS
from truth import false_clauses

from attnexercises import TODO, check, grade
from attnexercises.engine.blanks import NotAttempted, imagined
from attnexercises.engine.registry import find


def backward(d_out, query, key, value, *, twice=1, d_weights=None, d_scores=TODO):
    """The chapter's stub of `sdpa_backward`, with the first blank filled in."""
    c = 1 / np.sqrt(query.shape[-1])
    weights = softmax(c * query @ key.mT)
    d_value = twice * (weights.mT @ d_out)
    d_query = c * d_scores @ key
    d_key = c * d_scores.mT @ query
    return d_query, d_key, d_value



def lines(answer, id="sdpa_backward"):
    result = grade(id, answer)
    assert result.status == "unattempted"
    return result.lines


def test_what_is_done_is_called_right_and_what_is_not_still_to_do():
    def sdpa_backward(d_out, query, key, value):
        return backward(d_out, query, key, value, d_scores=TODO)

    assert lines(sdpa_backward) == ("[ ] sdpa_backward: a TODO is left; d_value right; d_query, d_key still TODO",)


def test_what_is_done_wrongly_is_described():
    def sdpa_backward(d_out, query, key, value):
        return backward(d_out, query, key, value, twice=2, d_scores=TODO)

    assert lines(sdpa_backward) == (
        "[ ] sdpa_backward: a TODO is left; d_value wrong; d_query, d_key still TODO",
        "    d_value: every number is 2 times the right one.",
    )


def test_blanks_that_are_returned_are_still_to_do():
    def linear_backward(d_out, x, weight):
        return d_out @ weight.T, TODO

    (line,) = lines(linear_backward, "linear_backward")
    assert line == "[ ] linear_backward: a TODO is left; d_x right; d_weight still TODO"


def test_in_place_and_in_a_loop():
    def flash_backward(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
        gradients = find("flash_backward").solution(d_out, query, key, value, out, logsumexp, block_q, block_k, causal)
        d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
        for start in range(0, len(key), block_k):
            columns = slice(start, start + block_k)
            d_value[columns] += gradients[2][columns]
            d_key[columns] += gradients[1][columns] - TODO
            d_query[0] += TODO
        return d_query, d_key, d_value

    assert lines(flash_backward, "flash_backward") == (
        "[ ] flash_backward: 2 TODOs are left; d_value right; d_query, d_key still TODO",
    )


def test_where_a_blank_decides_which_way_to_go_nothing_is_judged():
    def merge_partials(out_a, logsumexp_a, out_b, logsumexp_b):
        if TODO > 0:
            return out_a, logsumexp_a
        return out_a, TODO

    assert lines(merge_partials, "merge_partials") == ("[ ] merge_partials: 2 TODOs are left",)


def test_what_stops_or_depends_on_every_blank_is_only_counted():
    def linear_backward(d_out, x, weight):
        d_x = d_out @ weight.T
        return d_x + TODO, x @ x @ x

    assert lines(linear_backward, "linear_backward") == ("[ ] linear_backward: a TODO is left",)


@pytest.mark.parametrize("id", ["softmax", "previous_token_head"])
def test_exercises_with_one_output_or_a_behaviour_are_only_counted(id):
    answers = {"softmax": lambda x: (TODO, x), "previous_token_head": lambda letters, places: (TODO, letters)}
    assert lines(answers[id], id) == (f"[ ] {id}: a TODO is left",)


def test_an_untouched_stub_is_not_attempted_yet(capsys):
    def linear_backward(d_out, x, weight):
        return TODO, TODO

    check("linear_backward", linear_backward)
    assert capsys.readouterr().out == "[ ] linear_backward: not attempted yet\n"


# --- TODO, imagined -------------------------------------------------------------------------------


def test_an_imagined_blank_spreads_and_is_a_number_where_one_is_needed():
    x = np.ones(3)
    with imagined(0.25):
        assert np.exp(TODO) is TODO and x @ TODO is TODO and TODO.mT[0].sum(axis=1) is TODO and np.sum(TODO) is TODO
        x[1] = TODO
        x += 0 * x
        assert x[1] == 0.25 == float(TODO) and np.asarray(TODO) == 0.25 and int(TODO) == 0
        for use in (bool, len, iter, range):
            with pytest.raises(NotAttempted):
                use(TODO)
    with pytest.raises(NotAttempted):
        TODO + 1
    with pytest.raises(NotAttempted):
        float(TODO)


def test_it_ends_with_an_error_too():
    with pytest.raises(KeyError), imagined(1.0):
        raise KeyError
    with pytest.raises(NotAttempted):
        np.exp(TODO)


# --- is it true? ----------------------------------------------------------------------------------

SPOILED = {
    "twice": lambda array: 2 * array,
    "minus": lambda array: -array,
    "shifted": lambda array: array + 1e-3,
    "with an axis too many": lambda array: np.asarray(array)[..., None],
}
SEVERAL = [exercise for exercise in FUNCTIONS if len(exercise.outputs) > 1 and not exercise.behaviour]


@pytest.mark.parametrize("spoiled", SPOILED)
@pytest.mark.parametrize("exercise", SEVERAL, ids=lambda exercise: exercise.id)
def test_what_is_said_of_the_outputs_that_are_done_is_true(exercise, spoiled):
    """The first output is still to do, the last one is wrong, and those in between are right."""
    names = exercise.outputs

    def whole(*arguments):
        outputs = exercise.solution(*arguments)
        return *outputs[:-1], SPOILED[spoiled](outputs[-1])

    def unfinished(*arguments):
        return TODO, *whole(*arguments)[1:]

    summary, sentence = lines(unfinished, exercise.id)
    right = f"{', '.join(names[1:-1])} right; " if names[1:-1] else ""
    assert summary.endswith(f"; {right}{names[-1]} wrong; {names[0]} still TODO")
    result = grade(exercise, unfinished)
    assert false_clauses(exercise, whole, replace(result, lines=(f"[!] {exercise.id}: {sentence.strip()}",))) == []
