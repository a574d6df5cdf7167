"""attnlib.costs: is bad input refused in clear words?"""

import numpy as np
import pytest
from costs_cases import D, K, Q, V

from attnlib.costs import (
    A100,
    Memory,
    arithmetic_intensity,
    count_bytes,
    count_flops,
    count_model_flops,
    count_model_parameters,
    count_parameters,
    count_traffic,
    flash_attention_on,
    kv_cache_bytes,
    latent_cache_bytes,
    naive_attention_on,
    roofline,
    score_bytes,
    tiles,
)

ONES = np.ones((Q, D)), np.ones((K, D)), np.ones((K, V))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: Memory(0), ValueError, "Memory: capacity must be at least 1; got 0"),
        (lambda: Memory(2.5), TypeError, "Memory: capacity must be an integer; got 2.5"),
        (lambda: (m := Memory()).store(m.load(np.ones(2)), np.ones(3)), ValueError, r"one shape; got \(2,\) and \(3,\)"),
        (lambda: naive_attention_on(Memory(3), *ONES), MemoryError, "holds 3 numbers and 0 are in use; 15 more"),
        (lambda: naive_attention_on(Memory(), ONES[0], ONES[1][:, :2], ONES[2]), ValueError, r"naive_attention_on: .*\(7, 2\)"),
        (lambda: flash_attention_on(Memory(), *ONES[:2], ONES[2][:3]), ValueError, r"flash_attention_on: .*\(3, 2\)"),
        (lambda: flash_attention_on(Memory(), ONES[0][None], *ONES[1:]), ValueError, r"one head.*\(1, 5, 3\)"),
        (lambda: flash_attention_on(Memory(), np.ones((Q, D, 1)), *ONES[1:]), ValueError, r"one head.*\(5, 3, 1\)"),
        (lambda: flash_attention_on(Memory(), *ONES[:2], np.ones((K, V, 1))), ValueError, r"one head.*\(7, 2, 1\)"),
        (lambda: flash_attention_on(Memory(), ONES[0], ONES[1][:0], ONES[2][:0]), ValueError, "at least one key"),
        (lambda: flash_attention_on(Memory(), ONES[0][:, :0], ONES[1][:, :0], ONES[2]), ValueError, "one feature"),
        (lambda: flash_attention_on(Memory(), *ONES, block_q=0), ValueError, "block_q must be at least 1; got 0"),
        (lambda: flash_attention_on(Memory(), *ONES, block_k=1.0), TypeError, "block_k must be an integer; got 1.0"),
        (lambda: flash_attention_on(Memory(), ONES[0] > 0, *ONES[1:]), TypeError, "query must be an array of real"),
        (lambda: count_flops(1, 2, 3, method="flash-keys-outer"), ValueError, "count_flops: method must be one of naive, flash;"),
        (lambda: count_traffic(1, 2, 3, method="Flash"), ValueError, "one of naive, flash, flash-keys-outer; got 'Flash'"),
        (lambda: count_traffic(-1, 2, 3), ValueError, "count_traffic: q must be at least 0; got -1"),
        (lambda: count_bytes(1, 2, 3.0), TypeError, "^count_bytes: d must be an integer; got 3.0"),
        (lambda: count_flops(1, 2, 3, block_q=0), ValueError, "count_flops: block_q must be at least 1; got 0"),
        (lambda: count_flops(1, 2, 3, heads=True), TypeError, "count_flops: heads must be an integer; got True"),
        (lambda: count_flops(1, 2, 3, m=-4), ValueError, "count_flops: m must be at least 0; got -4"),
        (lambda: count_parameters(4, 0, 2), ValueError, "count_parameters: heads must be at least 1; got 0"),
        (lambda: kv_cache_bytes(1, 1, -1, 1, 1), ValueError, "kv_cache_bytes: n must be at least 0; got -1"),
        (lambda: roofline(1, 1, A100, dtype="float64"), ValueError, "no peak for float64; it has float32, float16"),
        (lambda: arithmetic_intensity("many", 1), TypeError, "arithmetic_intensity: flops must be a count; got 'many'"),
        (lambda: roofline(1, [2], A100), TypeError, r"roofline: traffic must be a count; got \[2\]"),
        (lambda: roofline("many", 1, A100), TypeError, "roofline: flops must be a count; got 'many'"),
        (lambda: count_bytes(1, 2, 3, method="Flash"), ValueError, "^count_bytes: method must be one of naive, flash, flash-keys-outer"),
        (lambda: count_bytes(1, 2, 3, dtype="abc"), TypeError, "^count_bytes: dtype must be a dtype, such as 'float32'; got 'abc'"),
        (lambda: count_flops(1, 2, 3, mask=np.ones((1, 2))), TypeError, "^count_flops: mask must be True or False; got array"),
        (lambda: count_flops(1, 2, 3, causal=np.ones(2)), TypeError, "^count_flops: causal must be True or False; got array"),
        (lambda: count_flops(1, 2, 3, backward="yes"), TypeError, "^count_flops: backward must be True or False; got 'yes'"),
        (lambda: count_flops(1, 2, 3, bias=1), TypeError, "^count_flops: bias must be True or False; got 1"),
        (lambda: count_traffic(1, 2, 3, causal=1), TypeError, "^count_traffic: causal must be True or False; got 1"),
        (lambda: count_traffic(1, 2, 3, backward=None), TypeError, "^count_traffic: backward must be True or False; got None"),
        (lambda: kv_cache_bytes(1, 1, 1, 1, 1, dtype="abc"), TypeError, "^kv_cache_bytes: dtype must be a dtype.*got 'abc'"),
        (lambda: roofline(1, 1, "A100"), TypeError, "^roofline: machine must be a Machine, such as A100; got 'A100'"),
        (lambda: roofline(1, 1, A100, dtype="abc"), TypeError, "^roofline: dtype must be a dtype.*got 'abc'"),
        (lambda: arithmetic_intensity(1, 1, dtype="abc"), TypeError, "^arithmetic_intensity: dtype must be a dtype.*got 'abc'"),
        (lambda: tiles(5, -1), ValueError, "^tiles: block must be at least 1; got -1"),
        (lambda: tiles(5, 0), ValueError, "^tiles: block must be at least 1; got 0"),
        (lambda: tiles(-1), ValueError, "^tiles: length must be at least 0; got -1"),
        (lambda: tiles(5, 2.0), TypeError, "^tiles: block must be an integer; got 2.0"),
        (lambda: latent_cache_bytes(1, 1, 1, -2), ValueError, "^latent_cache_bytes: latent must be at least 0; got -2"),
        (lambda: latent_cache_bytes(1, 1, 1, 2, dtype="abc"), TypeError, "^latent_cache_bytes: dtype must be a dtype.*got 'abc'"),
        (lambda: score_bytes(1, 2.0), TypeError, "^score_bytes: k must be an integer; got 2.0"),
        (lambda: score_bytes(1, 2, method="Flash"), ValueError, "^score_bytes: method must be one of naive, flash; got 'Flash'"),
        (lambda: count_model_parameters(1, 0, 2, 3), ValueError, "^count_model_parameters: m must be at least 1; got 0"),
        (lambda: count_model_parameters(1, 1, 2, 3, hidden=-1), ValueError, "^count_model_parameters: hidden must be at least 0"),
        (lambda: count_model_flops(1, 1, 1, 1, 1.5), TypeError, "^count_model_flops: d must be an integer; got 1.5"),
        (lambda: count_model_flops(1, 1, 1, 1, 1, method="x"), ValueError, "^count_model_flops: method must be one of naive, flash"),
        (lambda: arithmetic_intensity(True, 1), TypeError, "flops must be a count; got True"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_message_that_says_why(call, error, message):
    with pytest.raises(error, match=message):
        call()
