"""What attention is measured on, and how many heads there are."""

import numpy as np

D = 64
#: Short texts come in many: about as many scores as a long text has, in heads that a loop must not take one by one.
HEADS = {16: 1024, 32: 1024, 64: 64, 128: 16}
FEW = 4  # heads of the longer ones
#: The standard deviation of the scores. N(0, 1) inputs give 1, as the division by sqrt(d) intends: no key stands out,
#: and Flash may sum relative to 0, without a running maximum, since no score is beyond 20. The scores of a trained
#: model spread until a few keys take most of the weight. At 6 one of 2048 keys takes over half of it, and the scores
#: reach 30, which needs the running maximum. Far beyond 6 weights would fall below the smallest normal float32, and
#: processors are slow there.
SPREAD = {"normal": 1, "trained": 6}
KINDS = list(SPREAD)


def heads_at(n):
    """How many heads a text of n tokens is measured with."""
    return HEADS.get(n, FEW)


def make_inputs(row):
    """query, key, value and d_out of a row. Scores are query · key / sqrt(d): what the query is scaled by, they are."""
    rng = np.random.default_rng(0)
    shape = row["heads"], row["n"], D
    query, key, value, d_out = (rng.standard_normal(shape).astype(row["dtype"]) for _ in range(4))
    return SPREAD[row["inputs"]] * query, key, value, d_out


def largest_score(row):
    """The largest absolute score, on which the path through Flash depends."""
    query, key, _, _ = make_inputs(row)
    parts = (
        np.abs(part @ one_key.T).max()  # few scores at a time: all of them might not fit
        for one_query, one_key in zip(query, key, strict=True)
        for part in np.array_split(one_query, -(-row["n"] // 1024))
    )
    return float(max(parts) / D**0.5)
