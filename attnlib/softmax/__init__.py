"""Softmax: scores in, weights out. Its gradients, and how to take it one block at a time.

Read in this order:

1. `weights`: softmax, its backward, its Jacobian.
2. `shift`: the steps relative to a row's maximum that keep all of this finite.
3. `log_space`: the logarithm of the weights and of their denominator.
4. `online`: the denominator, one block of scores at a time.
"""

from attnlib.softmax.log_space import log_softmax, log_softmax_backward, logsumexp, logsumexp_backward
from attnlib.softmax.online import OnlineSoftmax
from attnlib.softmax.weights import softmax, softmax_backward, softmax_jacobian

__all__ = [
    "softmax",
    "softmax_backward",
    "softmax_jacobian",
    "log_softmax",
    "log_softmax_backward",
    "logsumexp",
    "logsumexp_backward",
    "OnlineSoftmax",
]
