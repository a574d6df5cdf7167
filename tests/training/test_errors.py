"""attnlib.training: is bad input refused in clear words?"""

import numpy as np
import pytest
from training_cases import HIDDEN, LEARNED, B, H, K, L, M, N, complete, model

from attnlib.training import (
    accuracy,
    adam_start,
    adam_step,
    add_positions,
    add_positions_backward,
    alphabet_of,
    attention_entropy,
    cross_entropy,
    cross_entropy_backward,
    decode,
    embed,
    embed_backward,
    encode,
    generate,
    head_means,
    induction_batch,
    induction_score,
    init_transformer,
    mlp,
    mlp_backward,
    previous_token_score,
    reversal_batch,
    rms_norm,
    rms_norm_backward,
    text_batch,
    train,
    transformer,
    transformer_backward,
    transformer_loss,
    warmup_cosine,
    words_batch,
)

RNG = np.random.default_rng(0)
LOGITS, TARGETS, X = np.ones((B, N, K)), np.ones((B, N), int), np.ones((B, N, M))
TABLE, WEIGHTS = np.ones((K, M)), np.ones((B, H, N, N)) / N
MLP = np.ones((M, HIDDEN)), np.ones(HIDDEN), np.ones((HIDDEN, M)), np.ones(M)
PARAMS, MODEL = model(RNG), complete(RNG)
SAVED = transformer(TARGETS, PARAMS, heads=H)[1]
SIZES = dict(vocabulary=K, n=N, m=M, heads=H, layers=L)
ADAM = {"x": np.ones(2)}


def drop(params, name):
    return {key: array for key, array in params.items() if key != name}


def attend(tokens=TARGETS, params=PARAMS, heads=H, **options):
    return transformer(tokens, params, heads=heads, **options)


def attend_complete(params=MODEL, **options):
    return transformer(TARGETS, params, heads=H, positions="rotary", **options)


def adam(params=ADAM, gradients=ADAM, state=None, rate=0.1, **options):
    return adam_step(params, gradients, adam_start(ADAM) if state is None else state, rate=rate, **options)


def start(rng=RNG, **changed):
    return init_transformer(rng, **(SIZES | changed))


def copy_task(rng=RNG, **changed):
    return induction_batch(rng, **(dict(b=2, n=6, vocabulary=5, shortest=2, longest=3) | changed))


def words(**changed):
    rng = np.random.default_rng(0)
    return words_batch(rng, **(dict(b=2, n=6, vocabulary=6, words=2, shortest=2, longest=3) | changed))


def write(prompt=TARGETS, steps=1, rng=RNG, **options):
    return generate(prompt, **({"params": MODEL, "positions": "rotary"} | options), heads=H, steps=steps, rng=rng)


def run(params=ADAM, next_batch=dict, loss=lambda *_: (0.0, ADAM), steps=1, **options):
    return train(params, next_batch, loss, steps=steps, **({"rate": 0.1} | options))


@pytest.mark.parametrize(
    "call, error, message",
    [
        # loss
        (lambda: cross_entropy(LOGITS > 0, TARGETS), TypeError, "cross_entropy: logits must be an array of real numbers.*bool"),
        (lambda: cross_entropy(LOGITS, TARGETS * 1.0), TypeError, "cross_entropy: targets must be an array of integers; got float64"),
        (lambda: cross_entropy(LOGITS, TARGETS > 0), TypeError, "cross_entropy: targets must be an array of integers; got bool"),
        (lambda: cross_entropy(LOGITS, [[1], [1, 2]]), TypeError, "targets must be an array of integers; got lists of unequal length"),
        (lambda: cross_entropy(LOGITS, TARGETS * K), ValueError, "cross_entropy: targets must be integers from 0 to 4; got 5"),
        (lambda: cross_entropy(LOGITS, TARGETS - 2), ValueError, "cross_entropy: targets must be integers from 0 to 4; got -1"),
        (lambda: cross_entropy(LOGITS, TARGETS[:, :3]), ValueError, r"(?s)shape \(..., n\) of logits.*\(2, 4, 5\).*\(2, 3\)"),
        (lambda: cross_entropy(LOGITS, TARGETS, keep=TARGETS), TypeError, "cross_entropy: keep must be boolean.*int(32|64)"),
        (lambda: cross_entropy(LOGITS, TARGETS, keep=TARGETS[0] > 0), ValueError, r"(?s)keep must have the shape.*keep: +\(4,\)"),
        (lambda: cross_entropy(LOGITS, TARGETS, keep=TARGETS < 0), ValueError, "cross_entropy: a mean needs at least one kept position"),
        (lambda: cross_entropy(LOGITS[:0], TARGETS[:0]), ValueError, "cross_entropy: a mean needs at least one kept position"),
        (lambda: cross_entropy(LOGITS[..., :0], TARGETS), ValueError, "with at least one token k"),
        (lambda: cross_entropy_backward([1.0, 2.0], TARGETS, LOGITS), ValueError, r"d_loss must be one number; got an array of shape \(2,\)"),
        (lambda: cross_entropy_backward(1.0, TARGETS[:1], LOGITS), ValueError, r"(?s)cross_entropy_backward.*shape \(..., n\) of weights"),
        (lambda: cross_entropy_backward(1.0, 0, 0.5), ValueError, r"weights must have the shape \(..., n, k\) .* got \(\)"),
        # parts
        (lambda: embed(TABLE[0], TARGETS), ValueError, r"embed: table must have the shape \(k, m\).*\(6,\)"),
        (lambda: embed(TABLE, TARGETS * 5), ValueError, "embed: tokens must be integers from 0 to 4; got 5"),
        (lambda: embed(TABLE, [-1]), ValueError, "embed: tokens must be integers from 0 to 4; got -1"),
        (lambda: embed(TABLE, [1.0]), TypeError, "embed: tokens must be an array of integers; got float64"),
        (lambda: embed(TABLE * 1j, TARGETS), TypeError, "embed: table must be an array of real numbers.*complex"),
        (lambda: embed_backward(X[..., :5], TABLE, TARGETS), ValueError, r"d_out must have the shape \(..., n, m\) = \(2, 4, 6\).*\(2, 4, 5\)"),
        (lambda: add_positions(X, np.ones((3, M))), ValueError, r"(?s)add_positions: x must.*\(2, 4, 6\).*\(3, 6\)"),
        (lambda: add_positions(X, np.ones((N, 5))), ValueError, "with the same m"),
        (lambda: add_positions_backward(X[0, 0], TABLE), ValueError, r"(?s)add_positions_backward: d_out must.*\(6,\)"),
        (lambda: rms_norm(X, np.ones(5)), ValueError, r"(?s)rms_norm: x must have.*\(2, 4, 6\).*\(5,\)"),
        (lambda: rms_norm(X[..., :0], np.ones(0)), ValueError, r"rms_norm: x must have the shape \(..., n, m\)"),
        (lambda: rms_norm("a", [1.0]), TypeError, "rms_norm: x must be an array of real numbers"),
        (lambda: rms_norm_backward(X[:1], X, np.ones(M)), ValueError, r"(?s)rms_norm_backward: d_out and x must.*\(1, 4, 6\)"),
        (lambda: mlp(X[..., :5], *MLP), ValueError, r"(?s)mlp: the shapes must be x \(..., n, m\).*x: +\(2, 4, 5\)"),
        (lambda: mlp(X, MLP[0], MLP[3], *MLP[2:]), ValueError, r"(?s)mlp: the shapes.*up_bias: +\(6,\)"),
        (lambda: mlp(X, MLP[0], MLP[1], MLP[0], MLP[3]), ValueError, r"(?s)mlp: the shapes.*down_weight: +\(6, 7\)"),
        (lambda: mlp(X, MLP[1], *MLP[1:]), ValueError, r"(?s)mlp: the shapes.*up_weight: +\(7,\)"),
        (lambda: mlp_backward(X, X, *MLP, X), ValueError, r"(?s)mlp_backward: the shapes.*before: +\(2, 4, 6\)"),
        (lambda: mlp_backward(X[:1], X, *MLP, np.ones((B, N, HIDDEN))), ValueError, r"(?s)mlp_backward: the shapes.*d_out: +\(1, 4, 6\)"),
        # optimiser
        (lambda: adam_start([1.0]), TypeError, "adam_start: params must be a dict from names to arrays; got list"),
        (lambda: adam_start({}), ValueError, "adam_start: params must hold at least one array"),
        (lambda: adam_start({0: [1.0]}), TypeError, r"adam_start: the names in params must be strings; got \[0\]"),
        (lambda: adam_start({"x": None}), TypeError, r"adam_start: params\['x'\] must be an array of real numbers.*None"),
        (lambda: adam(gradients={"y": np.ones(2)}), ValueError, "params and gradients must have the same names; only one of them has 'x', 'y'"),
        (lambda: adam(gradients={"x": np.ones(3)}), ValueError, r"same shapes; 'x' has \(2,\) and \(3,\)"),
        (lambda: adam(state=adam_start({"x": np.ones(3)})), ValueError, r"params and state.mean must have the same shapes"),
        (lambda: adam(state=(0, {}, {})), TypeError, "adam_step: state must be an AdamState; got tuple"),
        (lambda: adam(rate=-0.1), ValueError, "adam_step: rate must be one number, at least 0 and finite; got -0.1"),
        (lambda: adam(rate=np.nan), ValueError, "adam_step: rate must be one number, at least 0 and finite; got nan"),
        (lambda: adam(rate="fast"), TypeError, "adam_step: rate must be an array of real numbers"),
        (lambda: adam(beta1=1), ValueError, "adam_step: beta1 must be one number, at least 0 and below 1; got 1"),
        (lambda: adam(beta2=-1), ValueError, "adam_step: beta2 must be one number, at least 0 and below 1; got -1"),
        (lambda: adam(epsilon=[1, 2]), ValueError, "adam_step: epsilon must be one number"),
        (lambda: warmup_cosine(0, 10, peak=1.0), ValueError, "warmup_cosine: step must be at least 1; got 0"),
        (lambda: warmup_cosine(11, 10, peak=1.0), ValueError, "step must be at most steps, and warmup below it; got 11, 0 of 10"),
        (lambda: warmup_cosine(1, 10, peak=1.0, warmup=10), ValueError, "got 1, 10 of 10"),
        (lambda: warmup_cosine(1.5, 10, peak=1.0), TypeError, "warmup_cosine: step must be an integer; got 1.5"),
        (lambda: warmup_cosine(1, 10, peak=-1), ValueError, "warmup_cosine: peak must be one number"),
        # the model
        (lambda: start(rng=0), TypeError, "init_transformer: rng must be a numpy.random.Generator; got int"),
        (lambda: start(layers=0), ValueError, "init_transformer: layers must be at least 1; got 0"),
        (lambda: start(vocabulary=0), ValueError, "init_transformer: vocabulary must be at least 1; got 0"),
        (lambda: start(heads=4), ValueError, "m must be a multiple of heads"),
        (lambda: start(scale=0), ValueError, "init_transformer: scale must be a positive, finite number"),
        (lambda: start(dtype=int), TypeError, "init_transformer: dtype must be a float dtype"),
        (lambda: attend(tokens=TARGETS * K), ValueError, "transformer: tokens must be integers from 0 to 4; got 5"),
        (lambda: attend(tokens=np.ones((B, LEARNED + 1), int)), ValueError, "a row for each of the n positions"),
        (lambda: attend(params=drop(PARAMS, "positions")), ValueError, "(?s)transformer: params must hold.*missing: positions"),
        (lambda: attend(params=drop(PARAMS, "0.key_weight")), ValueError, "(?s)missing: 0.key_weight\n  unknown: none"),
        (lambda: attend(params=PARAMS | {"1.bias": np.ones(2)}), ValueError, "(?s)missing: none\n  unknown: 1.bias"),
        (lambda: attend(params={"tokens": TABLE, "positions": TABLE, "unembedding": TABLE.T}), ValueError, "at least one layer"),
        (lambda: attend(params=list(PARAMS)), TypeError, "transformer: params must be a dict from names to arrays; got list"),
        (lambda: attend(heads=4), ValueError, "(?s)must be a multiple of its number of heads.*heads: 4"),
        (lambda: attend(params=PARAMS | {"unembedding": np.ones((7, K))}), ValueError, r"(?s)tokens \(k, m\).*unembedding: +\(7, 5\)"),
        (lambda: attend(params=PARAMS | {"unembedding": np.ones(M)}), ValueError, r"(?s)transformer: the shapes in params.*unembedding: +\(6,\)"),
        (lambda: attend(params=PARAMS | {"tokens": np.ones((4, M))}), ValueError, r"(?s)transformer: the shapes in params.*tokens: +\(4, 6\)"),
        (lambda: attend(params=PARAMS | {"positions": 1.0}), ValueError, r"(?s)transformer: the shapes in params.*positions: +\(\)"),
        (lambda: attend(params=PARAMS | {f"1.{w}_weight": np.ones((9, 9)) for w in ("query", "key", "value", "out")}), ValueError, "layer 1 is made for tokens of width 9, the unembedding for 6"),
        (lambda: attend_complete(MODEL | {"gain": np.ones(5)}), ValueError, r"(?s)transformer: the shapes.*gain: +\(5,\)"),
        (lambda: attend(heads=2.0), TypeError, "transformer: heads must be an integer; got 2.0"),
        (lambda: attend(causal=1), TypeError, "transformer: causal must be True or False; got 1"),
        (lambda: attend(without={(2, 0)}), ValueError, r"without names \(2, 0\); there are 2 layers of 3 heads, from 0"),
        (lambda: attend(without={(0, 3)}), ValueError, r"without names \(0, 3\)"),
        (lambda: attend(without={(0, -1)}), ValueError, "a head in without must be at least 0; got -1"),
        (lambda: attend(without=(0, 1)), TypeError, r"without must hold pairs \(layer, head\); got 0"),
        (lambda: attend(without="01"), TypeError, "without must be a set of pairs"),
        (lambda: attend(without=3), TypeError, "without must be a set of pairs"),
        (lambda: attend(without={(0, 1): np.ones(3)}), ValueError, r"without\[0, 1\] must broadcast.*\(2, 4, 2\); got \(3,\)"),
        (lambda: transformer_backward(LOGITS, PARAMS, None), TypeError, "saved must be a TransformerSaved; got NoneType"),
        (lambda: transformer_backward(LOGITS[:1], PARAMS, SAVED), ValueError, r"\(..., n, k\) = \(2, 4, 5\); got \(1, 4, 5\)"),
        (lambda: transformer_backward(LOGITS, PARAMS, attend(without={(0, 1)})[1]), ValueError, r"heads \[\(0, 1\)\] were taken out"),
        (lambda: head_means(WEIGHTS), TypeError, "head_means: saved must be a TransformerSaved; got ndarray"),
        # parts that may be left out, and text
        (lambda: start(positions="rotary"), ValueError, "init_transformer: n is the number of learned positions; got n 4 and positions 'rotary'"),
        (lambda: start(n=None), ValueError, "init_transformer: n is the number of learned positions; got n None and positions 'learned'"),
        (lambda: start(n=0), ValueError, "init_transformer: n must be at least 1; got 0"),
        (lambda: start(n=None, positions="rotary", m=9), ValueError, "init_transformer: m / heads must be even.*got 9 / 3"),
        (lambda: start(hidden=-1), ValueError, "init_transformer: hidden must be at least 0; got -1"),
        (lambda: start(norm=1), TypeError, "init_transformer: norm must be True or False; got 1"),
        (lambda: start(positions="sinusoidal"), ValueError, "init_transformer: positions must be 'learned', 'rotary' or None; got 'sinusoidal'"),
        (lambda: attend(positions=["learned"]), ValueError, "transformer: positions must be 'learned', 'rotary' or None"),
        (lambda: attend(positions=True), ValueError, "transformer: positions must be 'learned', 'rotary' or None; got True"),
        (lambda: attend(residual=0), TypeError, "transformer: residual must be True or False; got 0"),
        (lambda: attend(positions="rotary"), ValueError, "(?s)transformer: params must hold tokens, unembedding and.*unknown: positions"),
        (lambda: attend_complete(drop(MODEL, "1.mlp_gain")), ValueError, "(?s)transformer: params must hold.*missing: 1.mlp_gain"),
        (lambda: attend_complete(drop(MODEL, "gain")), ValueError, "(?s)transformer: params must hold tokens, gain.*missing: gain"),
        (lambda: attend_complete(drop(MODEL, "0.up_bias")), ValueError, "(?s)missing: 0.up_bias\n  unknown: none"),
        (lambda: attend_complete(MODEL | {"0.up_bias": np.ones(3)}), ValueError, r"(?s)mlp: the shapes.*up_bias: +\(3,\)"),
        (lambda: transformer(TARGETS, {k: a for k, a in MODEL.items() if k[0] != "1"} | {"2.up_bias": np.ones(7)}, heads=H, positions="rotary"), ValueError, "unknown: 2.up_bias"),
        (lambda: write(prompt=[]), ValueError, r"generate: prompt must have the shape \(..., n\) with at least one token; got \(0,\)"),
        (lambda: write(prompt=[K]), ValueError, "generate: prompt must be integers from 0 to 4; got 5"),
        (lambda: write(prompt="abc"), TypeError, "generate: prompt must be an array of integers"),
        (lambda: write(rng=None), TypeError, "generate: rng must be a numpy.random.Generator; got NoneType"),
        (lambda: write(params=PARAMS), ValueError, "(?s)generate: params must hold.*unknown: positions"),
        (lambda: write(params=PARAMS, positions="learned", steps=LEARNED - N + 2), ValueError, "(?s)add_positions: x must.*a row for each of the n positions"),
        (lambda: write(steps=-1), ValueError, "generate: steps must be at least 0; got -1"),
        (lambda: write(temperature=-1), ValueError, "generate: temperature must be one finite number, at least 0"),
        (lambda: write(temperature=np.inf), ValueError, "generate: temperature must be one finite number, at least 0"),
        # tasks, characters
        (lambda: reversal_batch(RNG, b=0, n=3, vocabulary=4), ValueError, "reversal_batch: b must be at least 1; got 0"),
        (lambda: reversal_batch(7, b=1, n=3, vocabulary=4), TypeError, "reversal_batch: rng must be a numpy.random.Generator; got int"),
        (lambda: copy_task(shortest=4), ValueError, "induction_batch: shortest <= longest < n .* got shortest 4, longest 3"),
        (lambda: words(shortest=4), ValueError, "words_batch: shortest <= longest and .* got shortest 4, longest 3, words 2"),
        (lambda: words(words=3), ValueError, "words_batch: .* words \\* longest <= vocabulary must hold; .* words 3, vocabulary 6"),
        (lambda: words(n=6.0), TypeError, "words_batch: n must be an integer; got 6.0"),
        (lambda: copy_task(longest=6, vocabulary=9), ValueError, "shortest <= longest < n"),
        (lambda: copy_task(vocabulary=2), ValueError, "longest <= vocabulary must hold.*vocabulary 2"),
        (lambda: copy_task(n=6.0), TypeError, "induction_batch: n must be an integer; got 6.0"),
        (lambda: text_batch(RNG, [1, 2, 3], b=1, n=3), ValueError, r"text_batch: tokens must have one axis, longer than n = 3; got the shape \(3,\)"),
        (lambda: text_batch(RNG, TARGETS, b=1, n=1), ValueError, "text_batch: tokens must have one axis"),
        (lambda: text_batch(RNG, "abc", b=1, n=1), TypeError, "text_batch: tokens must be an array of integers"),
        (lambda: alphabet_of(b"abc"), TypeError, "alphabet_of: text must be a string; got bytes"),
        (lambda: encode("abc", "ab"), ValueError, "encode: every character must be in the alphabet; 'c' is not"),
        (lambda: encode("abc", None), TypeError, "encode: alphabet must be a string; got NoneType"),
        (lambda: decode([2], "ab"), ValueError, "decode: tokens must be integers from 0 to 1; got 2"),
        (lambda: decode([[1]], "ab"), ValueError, r"decode: tokens must have the shape \(n,\); got \(1, 1\)"),
        # scores, loop
        (lambda: previous_token_score(WEIGHTS[..., :3]), ValueError, r"weights must have the shape \(..., h, n, n\).*\(2, 3, 4, 3\)"),
        (lambda: previous_token_score(WEIGHTS[0, 0]), ValueError, "previous_token_score: weights must have the shape"),
        (lambda: previous_token_score(WEIGHTS[..., :1, :1]), ValueError, "at least two positions"),
        (lambda: previous_token_score(WEIGHTS, keep=TARGETS), TypeError, "previous_token_score: keep must be boolean"),
        (lambda: previous_token_score(WEIGHTS, keep=TARGETS[0] > 0), ValueError, r"keep must have the shape \(..., n\).*\(4,\)"),
        (lambda: previous_token_score(WEIGHTS, keep=[[True, False, False, False]] * B), ValueError, "one kept query after the first"),
        (lambda: induction_score(WEIGHTS, TARGETS[:1]), ValueError, r"induction_score: tokens must have.*\(1, 4\) and \(2, 3, 4, 4\)"),
        (lambda: induction_score(WEIGHTS, [[0, 1, 2, 3]] * B), ValueError, "induction_score: no token occurs twice"),
        (lambda: attention_entropy(WEIGHTS > 0), TypeError, "attention_entropy: weights must be an array of real numbers"),
        (lambda: attention_entropy(WEIGHTS[:0]), ValueError, "attention_entropy: weights must have the shape"),
        (lambda: accuracy(LOGITS, TARGETS[0]), ValueError, r"(?s)accuracy: targets and keep must.*\(4,\)"),
        (lambda: accuracy(LOGITS[..., :0], TARGETS), ValueError, "accuracy: logits must have the shape .* at least one token k"),
        (lambda: run(steps=0), ValueError, "train: steps must be at least 1; got 0"),
        (lambda: run(params=[]), TypeError, "train: params must be a dict"),
        (lambda: run(next_batch=[1]), TypeError, "train: next_batch must be a function; got list"),
        (lambda: run(loss=None), TypeError, "train: loss_and_gradients must be a function; got NoneType"),
        (lambda: run(report=3), TypeError, "train: report must be a function; got int"),
        (lambda: run(rate="fast"), TypeError, "adam_step: rate must be an array of real numbers"),
        (lambda: transformer_loss(PARAMS, (TARGETS, TARGETS), heads=H), TypeError, "transformer_loss: batch must be a Batch.*tuple"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_clear_words(call, error, message):
    with pytest.raises(error, match=message):
        call()
