"""A copy of the keys, or of the row, does not hide that all of them are looked at at once."""

import math

import numpy as np
import pytest
from method_cases import whole_row
from wrong_cases import softmax_or_zero

from attnexercises import grade


def one_query_at_a_time(query, key, value, block, causal):
    rows, logsumexp = [], []
    for i in range(len(query)):
        scores = key @ query[i] / math.sqrt(query.shape[1])
        if causal:
            scores = np.where(np.arange(len(key)) > i + len(key) - len(query), -np.inf, scores)
        rows.append(softmax_or_zero(scores) @ value)
        logsumexp.append(np.logaddexp.reduce(scores))
    return np.array(rows), np.array(logsumexp)


COPIES = {
    "np.copy": np.copy,
    "rows": lambda x: np.array([row for row in x]),
    "stack": lambda x: np.stack(list(x)),
    "concatenate": lambda x: np.concatenate([x]),
    "lists": lambda x: np.array(x.tolist()),
    "zeros": lambda x: np.zeros(x.shape) + x,
    "transposed": lambda x: np.copy(x.T).T,
    "plus 0": lambda x: x + 0.0,
}


@pytest.mark.parametrize("way", COPIES)
def test_plain_attention_on_copies_does_not_pass(way):
    copied = COPIES[way]

    def answer(query, key, value, block, causal):
        return one_query_at_a_time(copied(query), copied(key), copied(value), block, causal)

    result = grade("flash_forward", answer)
    assert result.status == "wrong" and " at once" in result.lines[0], result.lines


@pytest.mark.parametrize("way", [*COPIES, "one by one", "buffer"])
def test_a_whole_row_copied_is_no_online_softmax(way):
    more = {
        "one by one": lambda x: np.array([float(x[i]) for i in range(len(x))]), "buffer": lambda x: np.frombuffer(x.tobytes()),
    }  # fmt: skip
    result = grade("online_softmax", lambda x, block: whole_row((COPIES | more)[way](x), block))
    assert result.status == "wrong" and "looks at 20 scores at once where a block has 3" in result.lines[0], result.lines
