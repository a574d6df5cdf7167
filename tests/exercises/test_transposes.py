"""attnexercises.engine.transposes: is a transpose that turns leading axes round found, and no other blamed?"""

import numpy as np
from answers import first_line, right

from attnexercises.engine.registry import find
from attnexercises.reader.source import solution_source


def with_plain_transposes(id):
    """The solution, with `.T` wherever it has `.mT`."""
    namespace = {"np": np}
    exec(solution_source(find(id)).replace(".mT", ".T"), namespace)
    return namespace[id]


def test_a_transpose_that_turns_leading_axes_round_is_found_by_trying_it_without():
    turns = "`.T` turns all axes round"
    plain = with_plain_transposes("sdpa_backward")
    assert first_line(plain, "sdpa_backward") == (
        f"[!] sdpa_backward: right without leading axes; with them it stops: {turns}."
    )
    assert f": {turns}; with leading axes, only the last two may change" in first_line(with_plain_transposes("gqa"), "gqa")

    def by_function(d_out, query, key, value):
        weights = right(query @ np.transpose(key) / np.sqrt(query.shape[-1]))
        d_scores = weights * (d_out @ value.transpose() - (d_out * (weights @ value)).sum(axis=-1, keepdims=True))
        d_scores /= np.sqrt(query.shape[-1])
        return d_scores @ key, np.transpose(d_scores) @ query, weights.transpose(None) @ d_out

    assert turns in first_line(by_function, "sdpa_backward")


def with_the_chapters_softmax(d_out, query, key, value):
    """As readers write it after chapter 1: the library's softmax takes any array and returns a plain one."""
    from attnlib.softmax import softmax

    weights = softmax(query @ key.mT / np.sqrt(query.shape[-1]))
    d_weights = d_out @ value.mT
    d_scores = weights * (d_weights - (d_weights * weights).sum(axis=-1, keepdims=True)) / np.sqrt(query.shape[-1])
    return d_scores @ key, d_scores.T @ query, weights.T @ d_out


def through_functions_that_forget(d_out, query, key, value):
    weights = right(np.asarray(query) @ np.array(key).mT / np.sqrt(query.shape[-1]))
    weights = np.where(weights > 0, weights, 0.0)
    d_weights = np.einsum("...qv,...kv->...qk", d_out, value)
    d_scores = weights * (d_weights - np.sum(d_weights * weights, axis=-1, keepdims=True)) / np.sqrt(query.shape[-1])
    return np.matmul(d_scores, key), np.concatenate([d_scores]).T @ query, np.stack(list(weights)).T @ d_out


def test_a_transpose_is_found_behind_what_makes_plain_arrays():
    for answer in (with_the_chapters_softmax, through_functions_that_forget):
        assert "with them it stops: `.T` turns all axes round." in first_line(answer, "sdpa_backward")


def test_a_transpose_is_not_blamed_for_what_is_wrong_without_it():
    def minus(*args):
        return tuple(-gradient for gradient in with_plain_transposes("sdpa_backward")(*args))

    assert "turns all axes" not in first_line(minus, "sdpa_backward")
    assert "turns all axes" not in first_line(lambda x: np.exp(x), "softmax")
