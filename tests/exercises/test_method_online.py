"""How `online_softmax` got its result: block by block, and never back."""

import math

import numpy as np
import pytest
from method_cases import whole_row

from attnexercises import grade
from attnexercises.engine.registry import find


def maximum_first(x, block):
    maximum = max(x)
    shift = 0.0 if np.isneginf(maximum) else maximum
    return maximum, sum(np.exp(x[start : start + block] - shift).sum() for start in range(0, len(x), block))


def two_walks(numbers):
    def answer(x, block):
        scores = numbers(x)
        maximum = scores[0]
        for score in scores:
            if score > maximum:
                maximum = score
        return maximum, sum(math.exp(score - maximum) if maximum > -math.inf else 0.0 for score in scores)

    return answer


def one_walk(numbers):
    def answer(x, block):
        maximum, total = -math.inf, 0.0
        for score in numbers(x):
            new = max(maximum, score)
            if new > -math.inf:
                total = total * math.exp(maximum - new) + math.exp(score - new)
            maximum = new
        return maximum, total

    return answer


def sorted_first(x, block):
    ordered = np.sort(x)[::-1]
    return find("online_softmax").solution(ordered, block)


def one_block_less(x, block):
    """The last two blocks together."""
    maximum, total = -np.inf, 0.0
    starts = list(range(0, max(len(x) - block, 1), block))
    for start, stop in zip(starts, [*starts[1:], len(x)]):
        new = max(maximum, x[start:stop].max())
        if new > -np.inf:
            total = total * np.exp(maximum - new) + np.exp(x[start:stop] - new).sum()
            maximum = new
    return maximum, total


def blocks_merged_in_the_end(x, block):
    parts = []
    for start in range(0, len(x), block):
        scores = x[start : start + block].tolist()
        top = max(scores)
        parts.append((top, sum(math.exp(s - top) for s in scores) if top > -math.inf else 0.0))
    maximum = max(top for top, _ in parts)
    return maximum, sum(total * math.exp(top - maximum) for top, total in parts if top > -math.inf)


NUMBERS = {
    "as it is": lambda x: x,
    "a list": list,
    "tolist": lambda x: x.tolist(),
    "float": lambda x: [float(score) for score in x],
    "item": lambda x: [x[i].item() for i in range(len(x))],
    "flat": lambda x: list(np.asarray(x).flat),
    "an array again": lambda x: np.array(x.tolist()),
}
AT_ONCE, BACK = "one step looks at {} scores at once where a block has 3", "it goes back to scores of an earlier block"
ONLINE = {
    "the whole row": (whole_row, AT_ONCE.format(20)),
    "the maximum first": (maximum_first, BACK),
    "sorted first": (sorted_first, AT_ONCE.format(20)),
    "the last two blocks together": (one_block_less, AT_ONCE.format(5)),
    "the whole row of a list": (lambda x, block: whole_row(np.array(list(map(float, x))), block), AT_ONCE.format(20)),
    "the maximum of a list": (lambda x, block: maximum_first(np.array(x.tolist()), block), BACK),
    "blocks merged in the end": (blocks_merged_in_the_end, ""),
}
for name, numbers in NUMBERS.items():
    ONLINE |= {f"two walks, {name}": (two_walks(numbers), BACK), f"one walk, {name}": (one_walk(numbers), "")}


@pytest.mark.parametrize("case", ONLINE)
def test_who_looks_ahead_or_comes_back_is_told_so_and_nobody_else(case):
    answer, objection = ONLINE[case]
    result = grade("online_softmax", answer)
    if objection:
        assert result.status == "wrong" and result.mistakes == () and result.failed == (), result.lines
        assert result.lines[0].startswith(f"[!] online_softmax: the values are right, but {objection}"), result.lines
    else:
        assert result.status == "passed", result.lines
