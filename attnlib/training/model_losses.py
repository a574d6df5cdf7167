"""What the loop asks for, of either model: its cross-entropy on a batch, with the gradients of all parameters."""

from functools import partial

from attnlib.training.attention_model import attention_only, attention_only_backward
from attnlib.training.language import language_model, language_model_backward
from attnlib.training.losses import cross_entropy, cross_entropy_backward
from attnlib.training.tasks import Batch


def attention_only_loss(params, batch, *, heads, causal=True):
    """Cross-entropy of `attention_only` on a batch, and its gradients.

    Parameters
    ----------
    params : dict from str to array_like of any shape
    batch : Batch
    heads, causal
        As for `attention_only`.

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
    >>> from attnlib.training import init_attention_only, reversal_batch
    >>> rng = np.random.default_rng(0)
    >>> params = init_attention_only(rng, vocabulary=5, n=4, m=6, heads=1, layers=1)
    >>> loss, d_params = attention_only_loss(params, reversal_batch(rng, b=3, n=4, vocabulary=5), heads=1, causal=False)
    >>> bool(loss > 0), d_params.keys() == params.keys()
    (True, True)
    """
    model = partial(attention_only, heads=heads, causal=causal)
    return _loss("attention_only_loss", params, batch, model, attention_only_backward)


def language_model_loss(params, batch, *, heads):
    """Cross-entropy of `language_model` on a batch, and its gradients.

    Parameters
    ----------
    params : dict from str to array_like of any shape
    batch : Batch
    heads : int

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
    >>> from attnlib.training import init_language_model, text_batch
    >>> rng = np.random.default_rng(0)
    >>> params = init_language_model(rng, vocabulary=5, m=4, heads=1, layers=1)
    >>> loss, d_params = language_model_loss(params, text_batch(rng, [0, 3, 1, 4, 2, 0], b=2, n=3), heads=1)
    >>> bool(loss > 0), d_params.keys() == params.keys()
    (True, True)
    """
    model = partial(language_model, heads=heads)
    return _loss("language_model_loss", params, batch, model, language_model_backward)


def _loss(name, params, batch, model, backward):
    if not isinstance(batch, Batch):
        raise TypeError(f"{name}: batch must be a Batch (tokens, targets, keep); got {type(batch).__name__}.")
    logits, saved = model(batch.tokens, params)
    loss, weights = cross_entropy(logits, batch.targets, keep=batch.keep)
    d_logits = cross_entropy_backward(1.0, batch.targets, weights, keep=batch.keep)
    return loss, backward(d_logits, params, saved)
