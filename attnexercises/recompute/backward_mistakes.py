"""The known mistakes in `flash_backward`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

FLASH_BACKWARD = (
    Mistake(
        "no_D", "dS = P * dP",
        "The row's term is missing: each row's weighted mean has to be taken from d_weights.", 2,
        sets="D",
    ),
    Mistake(
        "D_block", "D summed inside the block only",
        "You took the row's mean over one block of keys; it has to cover the whole row, and d_out and out know "
        "it.", 2,
        sets="D",
    ),
    Mistake(
        "paren", "dS = P * dP - D",
        "The row's mean was subtracted after the weights were applied; it belongs to d_weights.", 2,
    ),
    Mistake(
        "D_mean", "D = mean, not sum, of dO * O",
        "For the row's mean the products were averaged over the features; they have to be summed.", 2,
    ),
    Mistake("D_oo", "D = rowsum(O * O)", "The row's mean uses out twice; d_out has to meet out.", 2),
    Mistake(
        "p_no_lse", "P = exp(S)",
        "The weights were recomputed without the saved logsumexp.", 1,
        sets="weights",
    ),
    Mistake(
        "score_scale", "P = exp(Q K^T - L)",
        "The recomputed scores lack the scale of the forward pass.", 1,
    ),
    Mistake(
        "p_block_softmax", "P = softmax of the block",
        "You normalised inside the block; the saved logsumexp is that of the whole row.", 1,
        sets="weights",
    ),
    Mistake(
        "no_mask", "causal mask not re-applied",
        "The causal mask must be applied again when the weights are recomputed; future keys receive no "
        "gradient.", 1,
        sets="mask",
    ),
    Mistake(
        "mask_local", "mask with indices inside the block",
        "The mask uses indices inside the tile; add the tile's first row and first column.", 1,
    ),
    Mistake(
        "no_offset", "mask without k - q",
        "With more keys than queries, query i stands at position i + k - q.", 1,
    ),
    Mistake(
        "dq_overwrite", "dQ[i] = ... in the loop over key blocks",
        "d_query holds the last block of keys only: each tile has to add its share.", 3,
    ),
    Mistake(
        "dk_overwrite", "dK[j] = ... in the loop over query blocks",
        "d_key and d_value hold the last block of queries only: each tile has to add its share.", 3,
    ),
    Mistake(
        "dv_out", "dV = P^T O",
        "d_value was made from out, the result of the forward pass; what comes back to the values is d_out.", 3,
    ),
    Mistake(
        "no_scale", "dQ and dK not scaled",
        "The scale is missing in front of d_query and d_key: that of the scores belongs there, too.", 3,
        shows="factor",
    ),
    Mistake(
        "quotient", "P = exp(S) / exp(L)",
        "Two exponentials were divided, and each may overflow or vanish; take the exponential of the "
        "difference.", 1,
        shows="lost", sets="weights",
    ),
    Mistake(
        "lse_added", "P = exp(S + L)",
        "The logsumexp was added to the scores; a weight is a share, so it has to be subtracted.", 1,
        sets="weights",
    ),
    Mistake(
        "no_exp", "P = S - L",
        "The recomputed weights lack the exponential: a score minus the logsumexp is the logarithm of a "
        "weight.", 1,
        sets="weights",
    ),
    Mistake(
        "lse_first", "L of the first tile in every tile",
        "The logsumexp of the first queries was used in every tile; each row has its own.", 1,
        sets="weights",
    ),
    Mistake(
        "D_gg", "D = rowsum(dO * dO)",
        "The row's mean uses d_out twice; d_out has to meet out.", 2,
        sets="D",
    ),
    Mistake(
        "D_plus", "dS = P * (dP + D)",
        "The row's mean was added to d_weights, not taken off.", 2,
        sets="D",
    ),
    Mistake(
        "D_total", "D = sum of all dO * O",
        "One number serves all rows; every row has a mean of its own.", 2,
        sets="D",
    ),
    Mistake(
        "sigmoid", "dS = P (1 - P) dP",
        "For the softmax you used the sigmoid rule: a score also moves the other weights of its row.", 2,
        sets="D",
    ),
    Mistake(
        "no_weights", "dS = dP - D",
        "The bracket is not multiplied by the weights: that factor belongs to the backward of a softmax.", 2,
        sets="D",
    ),
    Mistake(
        "scale_twice", "dQ, dK times 1 / d",
        "On the way back the scale was applied twice: once is enough for each of query and key.", 3,
        shows="factor", sets="back",
    ),
    Mistake(
        "scale_d", "1 / d",
        "The scale is 1 over d in yours; the forward divided by the root of d.", 1,
        sets="back forth",
    ),
    Mistake(
        "scale_v", "1 / sqrt(v)",
        "The scale is taken from the width v of the values; the forward took that of queries and keys, d.", 1,
        sets="back forth",
    ),
    Mistake(
        "strict", "key i + k - q hidden",
        "The mask hides the last key that a query may see: key i + k - q itself is visible.", 1,
        sets="diagonal",
    ),
    Mistake(
        "one_ahead", "key i + k - q + 1 visible",
        "The mask lets each query see one key of its future: the last visible one is key i + k - q.", 1,
        sets="diagonal",
    ),
    Mistake(
        "hidden_zero", "hidden scores = 0",
        "Hidden scores were set to 0, and the exponential of 0 minus the logsumexp is not 0: hide the "
        "weights.", 1,
        sets="mask",
    ),
    Mistake(
        "drop_tail", "k // block_k tiles",
        "The last, shorter tile of keys was skipped: round the number of tiles up.", 3,
    ),
    Mistake(
        "drop_q", "q // block_q tiles",
        "The last, shorter tile of queries was skipped: round the number of tiles up.", 3,
    ),
    Mistake(
        "dk_only", "d_key[columns] = ...",
        "d_key is assigned in each tile, so that the last block of queries is left: each tile has to add "
        "its share.", 3,
    ),
    Mistake(
        "dv_only", "d_value[columns] = ...",
        "d_value is assigned in each tile, so that the last block of queries is left: each tile has to "
        "add its share.", 3,
    ),
)
