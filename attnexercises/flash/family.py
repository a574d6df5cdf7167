"""Attention in one pass over blocks of keys, with every known mistake as a switch."""

import math

import numpy as np


def forward_family(bugs):
    def hidden_scores(scores, start, q, k):
        columns = np.arange(scores.shape[-1]) + (0 if "local_cols" in bugs else start)
        last = np.arange(q)[:, None] + (0 if "no_offset" in bugs else k - q)
        last = last + 1 if "one_ahead" in bugs else last
        hidden = columns >= last if "strict" in bugs else columns > last
        hidden = columns < last if "past_hidden" in bugs else hidden
        return np.where(hidden, -1e9 if "minus_1e9" in bugs else 0.0 if "hidden_zero" in bugs else -np.inf, scores)

    def skip_cut_tiles(scores, start, block, q, k):
        for top in range(0, q, block):  # the last key of the block against the first query of the tile
            if start + scores.shape[-1] - 1 > top + k - q:
                scores[top : top + block] = -np.inf
        return scores

    def blocks(query, key, value, block, causal):
        q, k = len(query), len(key)
        count = k // block if "drop_tail" in bugs else math.ceil(k / block)
        starts = list(range(0, count * block, block))
        starts = starts[1:] if "no_first_block" in bugs else starts[:-1] if "no_last_block" in bugs else starts
        if "tail_overlaps" in bugs:
            starts = [min(start, max(k - block, 0)) for start in starts]
        for start in starts[:1] if "one_block" in bugs else starts:
            keys, values = key[start : start + block], value[start : start + block]
            if "pad_zero_keys" in bugs:
                missing = ((0, block - len(keys)), (0, 0))
                keys, values = np.pad(keys, missing), np.pad(values, missing)
            scores = query @ keys.T
            if "no_scale" not in bugs:
                scores = scores / divisor(query.shape[-1], value.shape[-1])
            if causal and "no_mask" not in bugs:
                scores = hidden_scores(scores, start, q, k)
                if "skip_diag_block" in bugs:
                    scores = skip_cut_tiles(scores, start, block, q, k)
                hidden = np.isneginf(scores)
                if "skips_hidden" in bugs and hidden.all(axis=1).any() or "skips_cut" in bugs and hidden.any():
                    break
            yield scores, values

    def divisor(d, v):
        return d if "scale_d" in bugs else math.sqrt(v if "scale_v" in bugs else d)

    def shifted(new):
        return new if "nan_rows" in bugs else np.where(np.isneginf(new), 0.0, new)

    def safe(total):
        return total if "nan_rows" in bugs else np.where(total == 0, 1.0, total)

    def mean_of_blocks(parts):
        outs = []
        for scores, values in parts:
            exponentials = np.exp(scores - shifted(scores.max(axis=1, keepdims=True)))
            outs.append(exponentials / safe(exponentials.sum(axis=1, keepdims=True)) @ values)
        return np.sum(outs, axis=0) if "sum_of_blocks" in bugs else np.mean(outs, axis=0)

    def running_maximum(maximum, top):
        if "no_max" in bugs:
            return np.zeros_like(maximum)
        if "m_first" in bugs:
            return np.where(np.isneginf(maximum), top, maximum)
        if "m_all_queries" in bugs:
            return np.maximum(maximum, top.max())
        return top if "m_block" in bugs else np.maximum(maximum, top)

    def rescaling(maximum, top, new):
        rescale = np.exp(maximum - shifted(top if "alpha_block" in bugs else new))
        if "alpha_inv" in bugs:
            rescale = np.where(rescale == 0, 0.0, 1 / rescale)
        if "no_rescale" in bugs:
            return np.ones_like(rescale)
        return rescale**2 if "alpha_twice" in bugs else rescale

    def in_logarithms(total, maximum):
        if "lse_max" in bugs or "lse_total" in bugs:
            return maximum if "lse_max" in bugs else total
        if "lse_no_log" in bugs:
            return total * np.exp(maximum)
        logsumexp = np.log(total)
        if "lse_log_l" not in bugs:
            logsumexp = logsumexp - maximum if "lse_minus_m" in bugs else logsumexp + maximum
        return np.where(np.isneginf(logsumexp), 0.0, logsumexp) if "lse_zero" in bugs else logsumexp

    def variant(query, key, value, block, causal):
        out = np.zeros((len(query), value.shape[1]))
        maximum = np.full((len(query), 1), 0.0 if "m_init_0" in bugs else -np.inf)
        total = np.zeros((len(query), 1))
        parts = list(blocks(query, key, value, block, causal))
        for scores, values in parts:
            top = scores.max(axis=1, keepdims=True)
            new = running_maximum(maximum, top)
            rescale = rescaling(maximum, top, new)
            exponentials = np.exp(scores - shifted(top if "p_block" in bugs else new))
            block_total = exponentials.sum(axis=1, keepdims=True)
            if "p_normalised" in bugs:
                exponentials = exponentials / safe(block_total)
            total = (1.0 if "l_no_rescale" in bugs else 0.0 if "l_overwrite" in bugs else rescale) * total + block_total
            out = (1.0 if "o_no_rescale" in bugs else 0.0 if "o_overwrite" in bugs else rescale) * out
            out = out + exponentials @ (parts[0][1][: scores.shape[1]] if "first_values" in bugs else values)
            out = out / safe(total) if "div_each_block" in bugs else out
            maximum = new
        if "no_max" in bugs:
            maximum = np.where(total == 0, -np.inf, maximum)
        unguarded = total
        total = safe(total)
        if "norm_each_block" in bugs or "sum_of_blocks" in bugs:
            out = mean_of_blocks(parts)
        elif "no_final_div" not in bugs:
            out = out / (unguarded if "nan_division" in bugs else total)
        return out, in_logarithms(total, maximum)[:, 0]

    return variant
