"""The known mistakes in `flash_forward`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

FLASH_FORWARD = (
    Mistake(
        "o_no_rescale", "O + P V without rescaling O",
        "The output so far is not rescaled: it was measured against the old maximum.", 2,
    ),
    Mistake(
        "l_no_rescale", "l + sum without rescaling l",
        "The total so far is not rescaled: it was measured against the old maximum.", 2,
    ),
    Mistake(
        "alpha_inv", "exp(m_new - m_old)",
        "The rescale factor is upside down; it should never exceed 1.", 3,
        sets="rescale",
    ),
    Mistake(
        "no_final_div", "no division by l",
        "The output is not divided by the total: that has to be done once, after the last block.", 1,
        sets="division",
    ),
    Mistake(
        "p_normalised", "P divided by its block sum AND by l at the end",
        "Each block was normalised by its own sum; normalise once, at the end, by the total.", 2,
    ),
    Mistake(
        "norm_each_block", "mean of block-wise softmax outputs",
        "You averaged independent softmaxes of the blocks; they must share one maximum and one sum.", 2,
        sets="blocks",
    ),
    Mistake(
        "drop_tail", "k // block blocks",
        "The last, shorter block of keys was skipped: round the number of blocks up.", 1,
        sets="range",
    ),
    Mistake(
        "m_block", "new maximum = max of the block alone",
        "The new maximum is the block's own; a running maximum is the larger of the old one and the block's.", 3,
        sets="maximum",
    ),
    Mistake(
        "pad_zero_keys", "last block padded with zero keys",
        "The zero keys that fill up the last block have score 0, not -inf, so they take weight: mask them.", 1,
    ),
    Mistake(
        "local_cols", "column index inside the block",
        "The causal mask uses the column number inside the block; add the block's start.", 1,
    ),
    Mistake(
        "no_mask", "causal ignored",
        "The causal mask is missing: no query may see keys of its future.", 1,
        sets="mask",
    ),
    Mistake(
        "strict", "key i + k - q hidden",
        "The causal mask starts one key early: key i + k - q itself may be seen.", 1,
        sets="diagonal",
    ),
    Mistake(
        "no_offset", "row offset k - q missing",
        "With more keys than queries the last query has to see all keys: add k - q to the row index.", 1,
    ),
    Mistake(
        "skip_diag_block", "diagonal block skipped",
        "Blocks on the diagonal are partly visible: they need a mask entry by entry, not a skip.", 1,
    ),
    Mistake(
        "nan_rows", "exp(-inf - (-inf))",
        "-inf - (-inf) is NaN: a row whose keys are all masked so far needs a guard.", 3,
        shows="lost",
    ),
    Mistake(
        "lse_log_l", "LSE = log(total)",
        "The logsumexp misses the maximum: the total was measured against it.", 3,
        sets="logsumexp",
    ),
    Mistake(
        "lse_minus_m", "LSE = log(total) - maximum",
        "In the logsumexp the maximum has the opposite sign: it was taken off every score, so give it back.", 3,
        sets="logsumexp",
    ),
    Mistake(
        "m_init_0", "maximum starts at 0",
        "The maximum starts at 0, and scores far below it vanish: the maximum of nothing is -inf.", 1,
        shows="lost",
    ),
    Mistake(
        "no_scale", "S = Q K^T",
        "The scores are not scaled: divide the dot products by the root of d before the softmax.", 1,
        sets="scale",
    ),
    Mistake(
        "no_rescale", "neither rescaled",
        "Neither the total nor the output is rescaled when the maximum grows: both were measured against "
        "the old one.", 2,
        sets="rescale",
    ),
    Mistake(
        "alpha_block", "exp(m_old - m_block)",
        "The rescale factor leads to the block's own maximum; what both sums are measured against is the "
        "running one.", 3,
        sets="rescale",
    ),
    Mistake(
        "p_block", "exp(S - m_block)",
        "The exponentials are measured against the block's own maximum, the sums against the running one.", 3,
    ),
    Mistake(
        "alpha_twice", "the factor squared",
        "What was collected is rescaled twice for one and the same step of the maximum.", 2,
        sets="rescale",
    ),
    Mistake(
        "m_first", "m = maximum of the first block",
        "The maximum of the first block stays in use: when later scores are larger, the maximum has to "
        "follow.", 3,
        sets="maximum",
    ),
    Mistake(
        "m_all_queries", "one maximum for all queries",
        "One maximum serves all queries of a block: one whose scores lie far below it loses them. Each "
        "row needs its own.", 3,
        sets="maximum",
    ),
    Mistake(
        "l_overwrite", "total = block's sum",
        "The total holds the last block alone: what was collected before, rescaled, has to be added.", 2,
        sets="total",
    ),
    Mistake(
        "o_overwrite", "O = P V",
        "The output holds the last block alone: what was collected before, rescaled, has to be added.", 2,
        sets="output",
    ),
    Mistake(
        "div_each_block", "O / l after each block and again",
        "The output is divided by the total after each block and goes on as if it were a sum: divide "
        "once, at the end.", 2,
    ),
    Mistake(
        "sum_of_blocks", "sum of block-wise softmax outputs",
        "You added independent softmaxes of the blocks; they must share one maximum and one sum.", 2,
        sets="blocks",
    ),
    Mistake(
        "nan_division", "0 / 0 at the end",
        "A query that sees nothing was divided by its total, 0: divide by 1 there.", 3,
        shows="lost",
    ),
    Mistake(
        "lse_max", "LSE = m",
        "In place of the logsumexp you returned the maximum: the logarithm of the total has to be added.", 3,
        sets="logsumexp",
    ),
    Mistake(
        "lse_total", "LSE = l",
        "In place of the logsumexp you returned the total: its logarithm is needed, and the maximum.", 3,
        sets="logsumexp",
    ),
    Mistake(
        "lse_no_log", "LSE = l exp(m)",
        "The logsumexp lacks its logarithm: maximum plus the logarithm of the total.", 3,
        sets="logsumexp",
    ),
    Mistake(
        "lse_zero", "LSE = 0 for empty rows",
        "The logsumexp of a query that sees nothing is 0 in yours: the logarithm of no sum at all is -inf.", 3,
        sets="logsumexp",
    ),
    Mistake(
        "no_last_block", "the last block left out",
        "The last block of keys is left out, whether it is shorter or not: the end of the range comes "
        "too early.", 1,
        sets="range",
    ),
    Mistake(
        "no_first_block", "the first block left out",
        "The first block of keys is left out: start at key 0.", 1,
        sets="range",
    ),
    Mistake(
        "one_block", "only the first block",
        "Only the first block of keys is used: the others have to be taken in before anything is returned.", 1,
        sets="range",
    ),
    Mistake(
        "first_values", "V of the first block each time",
        "The values of the first block are used in every block: values are cut as the keys are.", 1,
    ),
    Mistake(
        "one_ahead", "key i + k - q + 1 visible",
        "Each query sees one key of its future: the last one that it may see is key i + k - q.", 1,
        sets="diagonal",
    ),
    Mistake(
        "past_hidden", "keys before i + k - q hidden",
        "The causal mask hides the past and shows the future: it is turned round.", 1,
        sets="mask",
    ),
    Mistake(
        "minus_1e9", "hidden scores = -1e9",
        "Hidden scores are finite, far below the others; a query that sees nothing then looks at "
        "forbidden keys.", 3,
        sets="hide",
    ),
    Mistake(
        "hidden_zero", "hidden scores = 0",
        "A score of 0 does not hide a key: the exponential of 0 is 1, and the key still gets a weight.", 1,
        sets="hide",
    ),
    Mistake(
        "scale_d", "S = Q K^T / d",
        "The scores are divided by d, not by its root.", 1,
        sets="scale",
    ),
    Mistake(
        "scale_v", "S = Q K^T / sqrt(v)",
        "The scores are scaled by the width v of the values, where d, that of queries and keys, belongs.", 1,
        sets="scale",
    ),
    Mistake(
        "no_max", "exp(S), log(sum of exp(S))",
        "The exponentials overflow for large scores and vanish for small ones: measure each row against "
        "a running maximum.", 3,
        shows="lost", sets="maximum rescale",
    ),
    Mistake(
        "tail_overlaps", "starts at k - block for the tail",
        "The last block begins so early that it is full: some keys are in two blocks, and count twice.", 1,
        sets="range",
    ),
    Mistake(
        "skips_hidden", "break, or continue, where one query sees nothing of a block",
        "A block of which one query sees nothing is left out for all queries; others see keys in it.", 1,
        sets="range",
    ),
    Mistake(
        "skips_cut", "break, or continue, at a block with a hidden pair",
        "A block in which a pair is hidden is left out for all queries; other pairs in it are seen.", 1,
        sets="range",
    ),
)
