"""Every function of the room as a function of the scores alone, and how close is close."""

import numpy as np
import pytest

from attnlib.softmax import (
    OnlineSoftmax,
    log_softmax,
    log_softmax_backward,
    logsumexp,
    logsumexp_backward,
    softmax,
    softmax_backward,
    softmax_jacobian,
)

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
SHAPE = B, Q, K = 2, 3, 5
INF, NAN = np.inf, np.nan
F32, F64 = np.finfo(np.float32), np.finfo(np.float64)
FORWARDS = [softmax, log_softmax, logsumexp]


def upstream(x):
    """Some gradient to start from, made of x; finite where a score is -inf."""
    return np.where(np.isneginf(x), 2, x)[..., ::-1]


# Every function as a function of the scores alone.
ALL = {
    "softmax": softmax,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "softmax_backward": lambda x: softmax_backward(upstream(x), softmax(x)),
    "log_softmax_backward": lambda x: log_softmax_backward(upstream(x), log_softmax(x)),
    "logsumexp_backward": lambda x: logsumexp_backward(upstream(x)[..., 0], x, logsumexp(x)),
    "softmax_jacobian": lambda x: softmax_jacobian(softmax(x)),
    "online": lambda x: OnlineSoftmax.start(x.shape[:-1], x.dtype).update(x[..., :2]).update(x[..., 2:]).logsumexp,
}
all_functions = pytest.mark.parametrize("function", ALL.values(), ids=ALL)
# A running state has its own rules: it keeps float32 for float16 and starts in a float dtype.
all_but_online = pytest.mark.parametrize("function", list(ALL.values())[:-1], ids=list(ALL)[:-1])


def tolerance(dtype):
    return {"rtol": 4e-15, "atol": 4e-16} if dtype == np.float64 else {"rtol": 2e-6, "atol": 2e-7}
