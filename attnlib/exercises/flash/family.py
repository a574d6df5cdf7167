"""Attention in one pass over blocks of keys, with every known mistake as a switch."""

import math

import numpy as np


def forward_family(bugs):
    def hidden_scores(scores, start, q, k):
        columns = np.arange(scores.shape[-1]) + (0 if "local_cols" in bugs else start)
        last = np.arange(q)[:, None] + (0 if "no_offset" in bugs else k - q)
        return np.where(columns >= last if "strict" in bugs else columns > last, -np.inf, scores)

    def skip_cut_tiles(scores, start, block, q, k):
        for top in range(0, q, block):  # the last key of the block against the first query of the tile
            if start + scores.shape[-1] - 1 > top + k - q:
                scores[top : top + block] = -np.inf
        return scores

    def blocks(query, key, value, block, causal):
        q, k = len(query), len(key)
        count = k // block if "drop_tail" in bugs else math.ceil(k / block)
        for start in range(0, count * block, block):
            keys, values = key[start : start + block], value[start : start + block]
            if "pad_zero_keys" in bugs:
                missing = ((0, block - len(keys)), (0, 0))
                keys, values = np.pad(keys, missing), np.pad(values, missing)
            scores = query @ keys.T
            if "no_scale" not in bugs:
                scores = scores / math.sqrt(query.shape[-1])
            if causal and "no_mask" not in bugs:
                scores = hidden_scores(scores, start, q, k)
                if "skip_diag_block" in bugs:
                    scores = skip_cut_tiles(scores, start, block, q, k)
            yield scores, values

    def shifted(new):
        return new if "nan_rows" in bugs else np.where(np.isneginf(new), 0.0, new)

    def safe(total):
        return total if "nan_rows" in bugs else np.where(total == 0, 1.0, total)

    def mean_of_blocks(parts):
        outs = []
        for scores, values in parts:
            exponentials = np.exp(scores - shifted(scores.max(axis=1, keepdims=True)))
            outs.append(exponentials / safe(exponentials.sum(axis=1, keepdims=True)) @ values)
        return np.mean(outs, axis=0)

    def variant(query, key, value, block, causal):
        out = np.zeros((len(query), value.shape[1]))
        maximum = np.full((len(query), 1), 0.0 if "m_init_0" in bugs else -np.inf)
        total = np.zeros((len(query), 1))
        parts = list(blocks(query, key, value, block, causal))
        for scores, values in parts:
            top = scores.max(axis=1, keepdims=True)
            new = top if "m_block" in bugs else np.maximum(maximum, top)
            rescale = np.exp(maximum - shifted(new))
            if "alpha_inv" in bugs:
                rescale = np.where(rescale == 0, 0.0, 1 / rescale)
            exponentials = np.exp(scores - shifted(new))
            block_total = exponentials.sum(axis=1, keepdims=True)
            if "p_normalised" in bugs:
                exponentials = exponentials / safe(block_total)
            total = (1.0 if "l_no_rescale" in bugs else rescale) * total + block_total
            out = (1.0 if "o_no_rescale" in bugs else rescale) * out + exponentials @ values
            maximum = new
        total = safe(total)
        logsumexp = np.log(total)
        if "lse_log_l" not in bugs:
            logsumexp = logsumexp - maximum if "lse_minus_m" in bugs else logsumexp + maximum
        if "norm_each_block" in bugs:
            out = mean_of_blocks(parts)
        elif "no_final_div" not in bugs:
            out = out / total
        return out, logsumexp[:, 0]

    return variant
