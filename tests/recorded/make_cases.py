"""Record what PyTorch and JAX answer, so that the tests can compare with them without installing either.

Run by hand, where torch and jax are installed (attnlib is not needed):

    python tests/recorded/make_cases.py

It writes three files beside itself. `recorded_inputs` makes the cases of attention, `record_attention` and
`record_multihead` ask the libraries, `exact_attention` measures the libraries' rounding errors, `case_file` writes.
`tests/recorded_cases.py` reads the files with NumPy alone.

========================  ================================================================================
``attention_torch.npz``   `torch.nn.functional.scaled_dot_product_attention` in float64, values and gradients
``attention_jax.npz``     `jax.nn.dot_product_attention`, which is float32 inside, values and gradients
``multihead_torch.npz``   `torch.nn.MultiheadAttention` in float64, values, gradients and one SGD step
========================  ================================================================================

Every file holds one text, ``meta``, in JSON: ``{"versions": {...}, "cases": {case: {option: value}}}``. An array
is stored as ``case/name``. All inputs are multiples of 1/256 of at most 7 (the same numbers in float16, float32
and float64) and stored as float16, unless a case is about larger ones.

Attention: ``query, key, value, d_out`` and, if the case has one, ``mask`` (True = may look at, or additive) go in;
``out, logsumexp, d_query, d_key, d_value, d_mask`` (of an additive mask) and, for small cases, ``weights`` come out.
Options: ``group``, ``causal``, ``scale`` (null = 1/sqrt(d)), ``offset`` (``mask`` is the causal mask with this
offset), and the library's own rounding error, the largest absolute one of each result:
``float64_error`` against an 80-bit evaluation, ``float32_error`` the same for its float32 answer.

Multi-head: ``x`` (b, q, m) and, if the case has it, ``context`` (b, k, m), or ``key`` (b, k, kdim) and ``value``
(b, k, vdim) where the two differ; ``mask`` (True = may look at, or additive) of shape (b, h or 1, q or 1, k), which is
all of the torch masks in one: ``attn_mask_torch`` and ``key_padding_mask_torch`` are what torch was given
(True = may *not* look at). Parameters ``param/NAME`` by torch's state-dict names. Out come ``out`` (b, q, m),
``weights`` (b, h, q, k), ``d_x, d_context, d_key, d_value, d_param/NAME, d_mask`` (if additive: of the shape of
``mask``), all from the upstream gradient ``d_out``, and ``step/NAME``: the parameters after one step of SGD with
learning rate ``lr`` on the loss ``(out * d_out).sum()``. Options: ``group``, ``heads``, ``causal``, ``lr``.
"""

from record_attention import record_jax_attention, record_torch_attention
from record_multihead import record_multihead

if __name__ == "__main__":
    record_torch_attention()
    record_jax_attention()
    record_multihead()
