"""Mutants that a check lets pass because they are right answers: exercise id, mutant, reason. Read one by one."""

EQUIVALENTS = {
    "score_table_step": {
        "-1 -> 1": "The rows of all pairs are a matrix: its last axis is axis 1.",
    },
    "masked_softmax": {
        "keep | ~alive -> keep": "empty rows become NaN on the way, with a warning, and are set to zero all the same",
    },
    "padded_causal_attention": {
        "keep | ~alive -> keep": "empty rows become NaN on the way, with a warning, and are set to zero all the same",
    },
    "paper_mask": {
        "i - j -> j - i": "Its absolute value is taken.",
        "window // 2 -> window / 2": "The window is even.",
    },
    "distance_bias_backward": {
        "np.array([np.trace(d_scores, offset=-r, axis1=-2, axis2=-1).sum() for r in range(n)]) -> "
        "[np.trace(d_scores, offset=-r, axis1=-2, axis2=-1).sum() for r in range(n)]": "a list of the same numbers",
    },
    "previous_token_head": {
        "9 -> 10": "Still sharper.",
        "np.sqrt(places) -> places": "Still sharper.",
        "np.log(9 * places) -> 9 * places": "Still sharper.",
        "np.zeros -> np.ones": "Adds the sum of the key's features, or of the query's, to a row: the same for all keys.",
    },
    "first_of_its_kind_head": {
        "3 -> 4": "Still steeper.",
        "np.sqrt(letters + 1) -> letters + 1": "Still steeper.",
        "letters + 1 -> letters": "In the root: with 3 letters a key loses 2.6 from place to place, which is enough.",
        "1 -> 0": "In the root, too.",
        "1 -> 2": "In the root: steeper.",
        "np.zeros -> np.ones": "In the keys: adds the sum of the query's features, or its last one, to a row: the same for all keys.",
    },
    "flash_forward": {
        "np.zeros -> np.ones": "The first rescale factor is exp(-inf) = 0: what the sums start from does not matter.",
        "np.full((q, 1), -np.inf, dtype) -> -np.inf": "One -inf for all queries broadcasts to the same thing.",
        "np.full((q, 1), -np.inf, dtype) -> np.full((q, 1), -np.inf)": "float64, as the inputs of the check are.",
        "np.zeros((q, 1), dtype) -> np.zeros((q, 1))": "float64, as the inputs of the check are.",
        "np.zeros((q, value.shape[1]), dtype) -> np.zeros((q, value.shape[1]))": "float64, as the inputs of the check are.",
        "(q, 1) -> (1, 1)": "Broadcasts to the same thing in the first block.",
        "0.0 -> 1.0": "Any finite number will do where exp(-inf - number) = 0 is wanted.",
        "0.0 -> -1.0": "Any finite number will do where exp(-inf - number) = 0 is wanted.",
        "1.0 -> 2.0": "A query that saw nothing: 0 / 2 is 0 as well, and -inf + log 2 is -inf.",
        "0 -> -1": "The first of one column is the last.",
    },
    "flash_traffic": {
        "int(np.ceil(n / block_q)) -> np.ceil(n / block_q)": "A whole number as a float is the same number.",
    },
    "merge_partials": {
        "0.0 -> 1.0": "Any finite number will do where exp(-inf - number) = 0 is wanted.",
        "0.0 -> -1.0": "Any finite number will do where exp(-inf - number) = 0 is wanted.",
        "1.0 -> 2.0": "Where neither part saw a key, 0 / 2 is 0 as well, and -inf + log 2 is -inf.",
    },
    "striped_pairs": {
        "worker - turn -> turn": "The keys' worker has no larger number exactly where no round has wrapped: turn <= worker.",
        "n // workers -> n / workers": "The same number, as a float.",
        "size * (size + 1) // 2 -> size * (size + 1) / 2": "The same number, as a float.",
        "size * (size - 1) // 2 -> size * (size - 1) / 2": "The same number, as a float.",
    },
    "rope": {
        "np.zeros -> np.ones": "Every entry is written before it is read.",
        "0::2 -> ::2": "A slice starts at 0 by itself.",
    },
    "rope_scores": {
        "np.zeros -> np.ones": "Every entry is written before it is read.",
        "0::2 -> ::2": "A slice starts at 0 by itself.",
        "x[:, 0::2] * cos - x[:, 1::2] * sin -> x[:, 1::2] * sin - x[:, 0::2] * cos": "Minus the first components of queries and keys alike: they meet in a product.",
    },
    "rope_backward": {
        "np.zeros -> np.ones": "Every entry is written before it is read.",
        "0::2 -> ::2": "A slice starts at 0 by itself.",
    },
    "kv_cache": {
        "cache or ([], []) -> ([], [])": "A check starts with an empty cache; the chapter tests the other case by writing a text.",
        "np.array(out) -> out": "A list of the same rows.",
        "np.array(keys) -> keys": "A product with an array takes a list of rows, too.",
        "np.array(values) -> values": "A product with an array takes a list of rows, too.",
    },
    "linear_step": {
        "query @ total -> total @ query": "The product of two vectors is the same both ways.",
    },
}
