"""Mutants that a check lets pass because they are right answers: exercise id, mutant, reason. Read one by one."""

EQUIVALENTS = {
    "masked_softmax": {
        "keep | ~alive -> ~alive | keep": "or does not mind the order",
        "keep | ~alive -> keep": "empty rows become NaN on the way, with a warning, and are set to zero all the same",
    },
    "padded_causal_attention": {
        "keep | ~alive -> ~alive | keep": "or does not mind the order",
        "keep | ~alive -> keep": "empty rows become NaN on the way, with a warning, and are set to zero all the same",
        "np.tril(np.ones((n, n), dtype=bool)) & real[:, np.newaxis, :] -> "
        "real[:, np.newaxis, :] & np.tril(np.ones((n, n), dtype=bool))": "and does not mind the order",
    },
}
