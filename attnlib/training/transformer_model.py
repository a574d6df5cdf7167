"""The transformer, from tokens to logits, each part of which can be left out; its loss; its gradients by hand."""

import numpy as np

from attnlib.checks.arrays import as_float, as_integer, as_truth, quiet
from attnlib.training.ablation import ablate, as_ablation
from attnlib.training.arguments import as_tokens
from attnlib.training.embedding import add_positions, add_positions_backward, embed, embed_backward
from attnlib.training.losses import cross_entropy, cross_entropy_backward
from attnlib.training.normalisation import rms_norm, rms_norm_backward
from attnlib.training.parameters import as_model, as_position_kind, named, of_layer
from attnlib.training.tasks import Batch
from attnlib.training.transformer_layer import TransformerSaved, layer_backward, layer_forward


@quiet
def transformer(tokens, params, *, heads, positions="learned", residual=True, causal=True, window=None, without=()):
    r"""Scores for the token that belongs at each position.

    Every layer lets the tokens look at each other, and then lets each think for itself:

    .. math:: y^i = x^i + \operatorname{attention}_i(\operatorname{norm}(x^i)), \qquad
              x^{i+1} = y^i + \operatorname{mlp}_i(\operatorname{norm}(y^i)), \qquad
              logits = \operatorname{norm}(x^L)\, unembedding

    The norm and the feed-forward part (mlp) are in the model if `params` holds their arrays. Without them, what is
    left is a sum over the paths of attention from token to logit.

    Parameters
    ----------
    tokens : array_like of shape (..., n)
        Integers.
    params : dict from str to array_like of any shape
        As `init_transformer` makes them.
    heads : int
        Heads of each layer.
    positions : {"learned", "rotary", None}, default "learned"
        How the model is told the order of its tokens: by rows of `params` that are added to them, by rotating queries
        and keys in each layer, or not at all. With learned positions, n is at most the number of their rows.
    residual : bool, default True
        Add what a part computes to the tokens, instead of replacing them.
    causal : bool, default True
        Let a position look at itself and earlier ones only. The logits of row i then score the token after token i.
    window : int, optional
        In every layer, let a position see this many newest positions only, itself included.
    without : set of (layer, head), or dict from (layer, head) to array_like of any shape, optional
        Heads to take out (ablation): the output of a head, (..., n, v), is replaced by zero, or by the array
        under its name, which broadcasts to that shape. See `head_means`.

    Returns
    -------
    logits : ndarray of shape (..., n, k)
    saved : TransformerSaved
        For `transformer_backward`, and to look at: ``saved.weights`` has the weights of every head. A head that is
        taken out still computes its weights, but nothing reads its output.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit, a token is unknown, or a head in `without` does not exist.

    References
    ----------
    .. [1] Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits": attention and nothing else.
    .. [2] Xiong et al. (2020), "On Layer Normalization in the Transformer Architecture", ICML: the norm comes before.
    .. [3] Su et al. (2021), "RoFormer: Enhanced Transformer with Rotary Position Embedding".

    Examples
    --------
    >>> from attnlib.training import init_transformer
    >>> rng = np.random.default_rng(0)
    >>> params = init_transformer(rng, vocabulary=5, n=7, m=6, heads=2, layers=1)
    >>> logits, saved = transformer([[1, 2, 3]], params, heads=2)
    >>> logits.shape, saved.weights[0].shape
    ((1, 3, 5), (1, 2, 3, 3))

    The layer that many of today's models repeat:

    >>> parts = dict(positions="rotary", norm=True, hidden=32)
    >>> params = init_transformer(rng, vocabulary=5, m=8, heads=2, layers=2, **parts)
    >>> logits, saved = transformer([[1, 2, 3]], params, heads=2, positions="rotary")
    >>> logits.shape, len(saved.weights)
    ((1, 3, 5), 2)
    """
    name = "transformer"
    as_position_kind(name, positions)
    params, dtype, layers = as_model(name, params, heads, positions)
    residual, causal = as_truth(name, "residual", residual), as_truth(name, "causal", causal)
    tokens = as_tokens(name, "tokens", tokens, len(params["tokens"]))
    if window is not None:
        window = as_integer(name, "window", window, minimum=1)
    replaced = as_ablation(name, without, layers, heads)
    options = dict(heads=heads, positions=positions, residual=residual, causal=causal, window=window, replaced=replaced)
    x, saved = run_layers(tokens, params, [None] * layers, **options)
    logits = unembed(x, params)
    saved = TransformerSaved(tokens, saved, x, positions, residual, frozenset(replaced))
    return logits.astype(dtype, copy=False), saved


@quiet
def transformer_backward(d_logits, params, saved):
    """Gradients of `transformer` with respect to all parameters.

    Parameters
    ----------
    d_logits : array_like of shape (..., n, k)
        Gradient of the loss with respect to the logits.
    params : dict from str to array_like of any shape
        As given to `transformer`.
    saved : TransformerSaved
        What `transformer` returned.

    Returns
    -------
    d_params : dict from str to ndarray of any shape
        Each gradient under the name of its parameter.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If `d_logits` does not have the shape of the logits, or heads were taken out in the forward:
        an ablation is for looking, not for training.

    Examples
    --------
    >>> from attnlib.training import init_transformer
    >>> rng = np.random.default_rng(0)
    >>> params = init_transformer(rng, vocabulary=5, n=7, m=6, heads=2, layers=1)
    >>> logits, saved = transformer([[1, 2, 3]], params, heads=2)
    >>> d_params = transformer_backward(rng.normal(size=logits.shape), params, saved)
    >>> d_params.keys() == params.keys(), d_params["tokens"].shape
    (True, (5, 6))
    """
    name = "transformer_backward"
    if not isinstance(saved, TransformerSaved):
        raise TypeError(f"{name}: saved must be a TransformerSaved; got {type(saved).__name__}.")
    params, dtype, layers = as_model(name, params, saved.weights[0].shape[-3], saved.positions)
    if saved.without:
        raise ValueError(f"{name}: heads {sorted(saved.without)} were taken out in the forward; run it without that.")
    (d_logits,), _ = as_float(name, d_logits=d_logits)
    expected = (*saved.tokens.shape, params["unembedding"].shape[1])
    if d_logits.shape != expected:
        raise ValueError(f"{name}: d_logits must have the shape (..., n, k) = {expected}; got {d_logits.shape}.")
    d_logits, d_params = d_logits.astype(saved.x.dtype, copy=False), {}
    # forward: logits = normal @ unembedding
    normal = rms_norm(saved.x, params["gain"]) if "gain" in params else saved.x
    d_params["unembedding"] = _rows(normal).mT @ _rows(d_logits)
    d_x = d_logits @ params["unembedding"].mT
    if "gain" in params:
        # forward: normal = rms_norm(x)
        d_x, d_params["gain"] = rms_norm_backward(d_x, saved.x, params["gain"])
    for layer in reversed(range(layers)):
        # forward: x = layer_forward(x)
        options = dict(rotate=saved.positions == "rotary", residual=saved.residual)
        d_x, d_arrays = layer_backward(d_x, of_layer(params, layer), saved.layers[layer], **options)
        d_params |= named(layer, d_arrays)
    if saved.positions == "learned":
        # forward: x = add_positions(x, positions)
        d_x, d_params["positions"] = add_positions_backward(d_x, params["positions"])
    # forward: x = embed(tokens)
    d_params["tokens"] = embed_backward(d_x, params["tokens"], saved.tokens)
    return {key: d_params[key].astype(dtype, copy=False) for key in params}


def transformer_loss(params, batch, *, heads, **parts):
    """Cross-entropy of `transformer` on a batch, and its gradients: what `train` asks for.

    Parameters
    ----------
    params : dict from str to array_like of any shape
    batch : Batch
    heads : int
    **parts
        `positions`, `residual`, `causal` and `window`, as for `transformer`.

    Returns
    -------
    loss : float
    d_params : dict from str to ndarray of any shape

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> from attnlib.training import init_transformer, reversal_batch
    >>> rng = np.random.default_rng(0)
    >>> params = init_transformer(rng, vocabulary=5, n=4, m=6, heads=1, layers=1)
    >>> loss, d_params = transformer_loss(params, reversal_batch(rng, b=3, n=4, vocabulary=5), heads=1, causal=False)
    >>> bool(loss > 0), d_params.keys() == params.keys()
    (True, True)
    """
    if not isinstance(batch, Batch):
        raise TypeError(
            f"transformer_loss: batch must be a Batch (tokens, targets, keep); got {type(batch).__name__}."
        )
    logits, saved = transformer(batch.tokens, params, heads=heads, **parts)
    loss, weights = cross_entropy(logits, batch.targets, keep=batch.keep)
    d_logits = cross_entropy_backward(1.0, batch.targets, weights, keep=batch.keep)
    return loss, transformer_backward(d_logits, params, saved)


def run_layers(tokens, params, caches, *, heads, positions, residual, causal, window=None, replaced=None):
    """The tokens after the last layer, and what each layer keeps. There is one cache, or None, for each layer."""
    x, saved = embed(params["tokens"], tokens), []
    if positions == "learned":
        first = 0 if caches[0] is None else len(caches[0])
        x = add_positions(x, params["positions"][first:])
    for layer, cache in enumerate(caches):
        options = dict(heads=heads, rotate=positions == "rotary", residual=residual, causal=causal)
        options |= dict(window=window, cache=cache)
        if replaced and any(place[0] == layer for place in replaced):
            options["ablate"] = lambda merged, layer=layer: ablate("transformer", merged, layer, heads, replaced)
        x, inside = layer_forward(x, of_layer(params, layer), **options)
        saved.append(inside)
    return x, tuple(saved)


def unembed(x, params):
    """The logits of these tokens."""
    return (rms_norm(x, params["gain"]) if "gain" in params else x) @ params["unembedding"]


def _rows(x):
    return x.reshape(-1, x.shape[-1])  # one row for each token, since all of them share the weights
