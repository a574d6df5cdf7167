"""attnlib.multihead: is bad input refused in clear words?"""

import numpy as np
import pytest
from multihead_cases import B, K, M, Q

from attnlib.multihead import (
    MultiHeadParams,
    from_torch,
    init_multihead,
    merge_heads,
    multihead_attention,
    multihead_attention_backward,
    split_heads,
    to_torch,
)

RNG = np.random.default_rng(0)
X, PARAMS = np.ones((B, Q, M)), init_multihead(RNG, m=M, heads=3)
SAVED = multihead_attention(X, PARAMS)[1]
STATE = to_torch(PARAMS)
SQUARE = np.ones((6, 6))


def attend(x=X, params=PARAMS, **options):
    return multihead_attention(x, params, **options)


def changed(**entries):
    return from_torch(STATE | {name.replace("__", "."): array for name, array in entries.items()}, 3)


@pytest.mark.parametrize(
    "call, error, message",
    [
        # making parameters
        (lambda: init_multihead(RNG, m=7, heads=3), ValueError, "m must be a multiple of heads, or give d; got m 7 and heads 3"),
        (lambda: init_multihead(RNG, m=6, heads=0), ValueError, "init_multihead: heads must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=-2), ValueError, "init_multihead: heads must be at least 1; got -2"),
        (lambda: init_multihead(RNG, m=6, heads=2.0), TypeError, "init_multihead: heads must be an integer; got 2.0"),
        (lambda: init_multihead(RNG, m=6, heads=True), TypeError, "init_multihead: heads must be an integer; got True"),
        (lambda: init_multihead(RNG, m=6, heads=6, kv_heads=4), ValueError, "heads must be a multiple of kv_heads; got 6 and 4"),
        (lambda: init_multihead(RNG, m=6, heads=2, kv_heads=0), ValueError, "kv_heads must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=0, heads=2), ValueError, "m must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=2, d=0), ValueError, "init_multihead: d must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=2, v=0), ValueError, "init_multihead: v must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=2, v=1.5), TypeError, "v must be an integer; got 1.5"),
        (lambda: init_multihead(RNG, m=6, heads=2, key_width=0), ValueError, "key_width must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=2, value_width=0), ValueError, "value_width must be at least 1; got 0"),
        (lambda: init_multihead(42, m=6, heads=2), TypeError, "rng must be a numpy.random.Generator; got int"),
        (lambda: init_multihead(RNG, m=6, heads=2, dtype=int), TypeError, "init_multihead: dtype must be a float dtype; got int"),
        (lambda: init_multihead(RNG, m=6, heads=2, dtype="abc"), TypeError, "init_multihead: dtype must be a dtype, such as 'float32'; got 'abc'"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=1.5), TypeError, "MultiHeadParams: heads must be an integer; got 1.5"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=4), ValueError, r"(?s)multiple of its number of heads.*heads: 4"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=4, kv_heads=3), ValueError, "heads must be a multiple of kv_heads; got 4 and 3"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=2, kv_heads=1), ValueError, "same number of features d in each head"),
        (lambda: MultiHeadParams(SQUARE, np.ones((6, 4)), SQUARE, SQUARE, heads=3), ValueError, "multiple of its number of heads"),
        (lambda: MultiHeadParams(SQUARE, SQUARE, np.ones((6, 4)), SQUARE, heads=3), ValueError, "multiple of its number of heads"),
        (lambda: MultiHeadParams(SQUARE[:, :0], SQUARE[:, :0], SQUARE, SQUARE, heads=1), ValueError, "at least one row and one column"),
        (lambda: MultiHeadParams(SQUARE, SQUARE, SQUARE[:, :0], SQUARE[:0], heads=1), ValueError, "at least one row and one column"),
        (lambda: MultiHeadParams(SQUARE, SQUARE, SQUARE, SQUARE[:5], heads=1), ValueError, r"(?s)\(heads · v, m\) = \(6, 6\).*\(5, 6\)"),
        (lambda: MultiHeadParams(SQUARE[0], SQUARE, SQUARE, SQUARE, heads=1), ValueError, "weights have two axes and biases have one"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=1, key_bias=SQUARE), ValueError, "weights have two axes and biases have one"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=1, key_bias=np.ones(5)), ValueError, "key_bias must have one number for each"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=1, out_bias=np.ones(5)), ValueError, "out_bias must have one number for each"),
        (lambda: MultiHeadParams(None, SQUARE, SQUARE, SQUARE, heads=1), TypeError, "query_weight must be an array of real numbers"),
        (lambda: MultiHeadParams(SQUARE > 0, SQUARE, SQUARE, SQUARE, heads=1), TypeError, "query_weight must be an array of real"),
        # the layer
        (lambda: attend(params=PARAMS.arrays()), TypeError, "params must be a MultiHeadParams; got dict"),
        (lambda: attend(np.ones((Q, 5))), ValueError, r"x must have the shape \(..., q, m\) with a last axis of 6.*\(4, 5\)"),
        (lambda: attend(np.ones(M)), ValueError, r"x must have the shape \(..., q, m\).*got \(6,\)"),
        (lambda: attend(X > 0), TypeError, "multihead_attention: x must be an array of real numbers.*bool"),
        (lambda: attend(context=X + 1j), TypeError, "multihead_attention: context must be an array of real numbers.*complex"),
        (lambda: attend(context=np.ones((B, K, 7))), ValueError, r"context must have the shape \(..., k, key_width\).*6.*\(2, 3, 7\)"),
        (lambda: attend(context=np.ones((1, K, M))), ValueError, r"(?s)x and context must have the same leading.*\(2, 4, 6\).*\(1, 3, 6\)"),
        (lambda: attend(context=(X, X, X)), ValueError, "context must be .for_keys, for_values.; got 3 items"),
        (lambda: attend(context=(X, X[:, :3])), ValueError, r"context\[0\] and context\[1\] must have the same number of positions k"),
        (lambda: attend(context=(X, X[..., :3])), ValueError, r"context\[1\] must have the shape \(..., k, value_width\).*6.*\(2, 4, 3\)"),
        (lambda: attend(context=(X[..., :3], X)), ValueError, r"context\[0\] must have the shape \(..., k, key_width\).*\(2, 4, 3\)"),
        (lambda: attend(context=(X, X[:1])), ValueError, r"(?s)x and context\[1\] must have the same leading axes.*\(1, 4, 6\)"),
        (lambda: attend(mask=np.ones((B, Q, Q), bool)), ValueError, r"(?s)multihead_attention: mask must broadcast.*mask\[:, np.newaxis\].*\(2, 4, 4\).*\(2, 3, 4, 4\)"),
        (lambda: attend(mask=np.ones((Q, K), bool)), ValueError, r"(?s)mask must broadcast to the shape \(..., heads, q, k\).*\(4, 3\)"),
        (lambda: attend(X[0], mask=np.ones((B, 1, 1, Q), bool)), ValueError, r"(?s)mask must broadcast.*\(2, 1, 1, 4\).*\(3, 4, 4\)"),
        (lambda: attend(mask=np.ones((Q, Q), int)), TypeError, "multihead_attention: mask must be boolean or float"),
        (lambda: attend(mask=np.full((Q, Q), np.inf)), ValueError, "multihead_attention: an additive mask must not hold \\+inf"),
        (lambda: attend(causal=1), TypeError, "multihead_attention: causal must be True or False; got 1"),
        (lambda: multihead_attention_backward(X[:, :3], PARAMS, SAVED), ValueError, r"d_out must have the shape .*\(2, 3, 6\), x is \(2, 4, 6\)"),
        (lambda: multihead_attention_backward(X > 0, PARAMS, SAVED), TypeError, "multihead_attention_backward: d_out must be an array of real"),
        (lambda: multihead_attention_backward(X, None, SAVED), TypeError, "multihead_attention_backward: params must be a MultiHeadParams"),
        (lambda: multihead_attention_backward(X, PARAMS, tuple(SAVED)), TypeError, "saved must be a MultiHeadSaved; got tuple"),
        # heads
        (lambda: split_heads(X, 4), ValueError, r"split_heads: x must have the shape .* multiple of heads = 4; got \(2, 4, 6\)"),
        (lambda: split_heads(np.ones(6), 2), ValueError, r"split_heads: x must have .* got \(6,\)"),
        (lambda: split_heads(X, 0), ValueError, "split_heads: heads must be at least 1; got 0"),
        (lambda: split_heads(X, 2.0), TypeError, "split_heads: heads must be an integer; got 2.0"),
        (lambda: merge_heads(np.ones((3, 4))), ValueError, r"merge_heads: x must have the shape \(..., h, n, d\); got \(3, 4\)"),
        (lambda: merge_heads(["a"]), TypeError, "merge_heads: x must be an array of real numbers"),
        # PyTorch
        (lambda: changed(bias_k=np.ones(6)), ValueError, "from_torch: bias_k and bias_v .* are not supported"),
        (lambda: changed(bias_v=np.ones(6)), ValueError, "from_torch: bias_k and bias_v .* are not supported"),
        (lambda: changed(weight=np.ones(6)), ValueError, "(?s)state_dict must hold in_proj_weight, out_proj.weight and may hold .*got.*weight"),
        (lambda: from_torch({"in_proj_weight": np.ones((18, 6))}, 3), ValueError, "must hold in_proj_weight, out_proj.weight"),
        (lambda: from_torch({}, 3), ValueError, "must hold k_proj_weight, out_proj.weight, q_proj_weight, v_proj_weight"),
        (lambda: changed(in_proj_weight=np.ones((17, 6))), ValueError, r"in_proj_weight has the wrong shape \(17, 6\); expected a first axis of 3 m"),
        (lambda: changed(in_proj_weight=np.ones(18)), ValueError, r"in_proj_weight has the wrong shape \(18,\)"),
        (lambda: changed(in_proj_bias=np.ones(17)), ValueError, r"in_proj_bias has the wrong shape \(17,\)"),
        (lambda: changed(out_proj__weight=np.ones(6)), ValueError, r"out_proj.weight has the wrong shape \(6,\); expected two axes"),
        (lambda: changed(out_proj__weight=np.ones((5, 6))), ValueError, r"^from_torch: transposed, the arrays do not fit: out_weight must have the shape"),
        (lambda: changed(out_proj__weight=SQUARE > 0), TypeError, "from_torch: out_proj.weight must be an array of real numbers"),
        (lambda: from_torch(STATE, 4), ValueError, "from_torch: heads must divide the 6 rows of the query's weight; got 4"),
        (lambda: from_torch(STATE, 3.0), TypeError, "^from_torch: heads must be an integer; got 3.0"),
        (lambda: from_torch(PARAMS, 3), TypeError, r"^from_torch: state_dict must be a mapping .*module.state_dict\(\); got MultiHeadParams"),
        (lambda: from_torch([("in_proj_weight", SQUARE)], 3), TypeError, "from_torch: state_dict must be a mapping .* got list"),
        (lambda: from_torch(STATE, 0), ValueError, "from_torch: heads must be at least 1; got 0"),
        (lambda: to_torch(init_multihead(RNG, m=6, heads=3, kv_heads=1)), ValueError, "needs kv_heads = heads .* kv_heads 1"),
        (lambda: to_torch(init_multihead(RNG, m=6, heads=3, d=4)), ValueError, "d = v = m / heads; got m 6, heads 3, kv_heads 3, d 4, v 4"),
        (lambda: to_torch(init_multihead(RNG, m=6, heads=3, v=4)), ValueError, "d 2, v 4"),
        (lambda: to_torch(STATE), TypeError, "to_torch: params must be a MultiHeadParams; got dict"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_message_that_says_why(call, error, message):
    with pytest.raises(error, match=message):
        call()
