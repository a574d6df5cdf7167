"""A trained encoder: text to tokens, tokens to states and weights, text to one vector."""

from collections.abc import Sequence

import numpy as np

from attnlib.checks.arrays import as_integer
from attnlib.checks.masks import as_mask
from attnlib.masks import padding_mask
from attnlib.pretrained.batches import padded, pooled
from attnlib.pretrained.encoder import run_layers
from attnlib.pretrained.rows import Rows
from attnlib.pretrained.wordpiece import words
from attnlib.training.ablation import as_ablation

_TOGETHER = 16  # texts that `embed` runs in one batch


class Pretrained:
    """What `load_pretrained` returns.

    Attributes
    ----------
    sizes : Sizes
        ``sizes.layers``, ``sizes.heads``, ``sizes.m``, …
    arrays : BertArrays
        What the model has learned, under the names of this library.
    tokenizer : WordPiece
    dtype : dtype
        What it computes in.

    Examples
    --------
    A very small model, with random weights:

    >>> import tempfile
    >>> from attnlib.pretrained import load_pretrained, write_tiny
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tiny(folder, np.random.default_rng(0))
    ...     model = load_pretrained(folder)
    >>> ids = model.tokenize("The cat sat.")
    >>> states, weights = model.run(ids)
    >>> states.shape, weights.shape
    ((6, 8), (2, 2, 6, 6))

    A batch of two texts, in which the padding is hidden:

    >>> ids, lengths = model.pad([ids, model.tokenize("cat")])
    >>> states, weights = model.run(ids, mask=padding_mask(lengths[:, np.newaxis], 6))
    >>> weights[1, 0, 0, 0] > 0  # the second text: three tokens, three of padding
    array([ True,  True,  True, False, False, False])

    Without a head of the first layer:

    >>> vectors = model.embed(["The cat sat.", "cat"], without={(0, 1)})
    >>> vectors.shape
    (2, 8)
    """

    def __init__(self, sizes, arrays, tokenizer, functions, kept=None):
        self.sizes, self.arrays, self.tokenizer = sizes, arrays, tokenizer
        self.dtype = arrays.tokens.dtype
        self._functions = functions
        self._rows = Rows(sizes.vocabulary, kept)

    def tokenize(self, text):
        """The ids of a text: [CLS], its pieces, [SEP].

        Parameters
        ----------
        text : str

        Returns
        -------
        ids : ndarray of shape (n,)
            The end of a text is cut off where the model has no more positions.

        Raises
        ------
        TypeError
            If `text` is not a string.
        ValueError
            If the model keeps only part of its vocabulary, and a word of this text needs more than that part.
        """
        if not isinstance(text, str):
            raise TypeError(f"tokenize: text must be a string; got {type(text).__name__}.")
        ids = np.array(self.tokenizer.encode(text, self.sizes.positions), np.int64)
        if not self._rows.has(ids):
            lost = [word for word in words(text) if not self._rows.has(self.tokenizer.encode(word))]
            raise ValueError(
                f"tokenize: this copy of the model keeps {self.sizes.vocabulary} tokens of its vocabulary; "
                f"it has none for: {', '.join(dict.fromkeys(lost))}."
            )
        return ids

    def words(self, ids):
        """The pieces with these ids, to write on the axes of a picture.

        Parameters
        ----------
        ids : array_like of shape (n,)

        Returns
        -------
        list of str
        """
        return [self.tokenizer.by_id[i] for i in self._rows.as_ids("words", ids).ravel().tolist()]

    def run(self, ids, *, mask=None, without=(), weights=True, layers=None):
        """Run a text, or a batch of texts of one length, through the layers.

        Parameters
        ----------
        ids : array_like of shape (..., n)
            As `tokenize` gives them; or as `pad` makes a batch of several, with a mask that hides the padding.
        mask : array_like, optional
            As for `attnlib.attention.attention`, and the same in every layer: True = may look at. Broadcasts to
            (..., heads, n, n), so for a batch `padding_mask` needs its lengths with an axis for the heads,
            ``padding_mask(lengths[:, np.newaxis], n)``.
        without : set of (layer, head), or dict from (layer, head) to array_like of any shape, optional
            Heads to take out: what a head hands on, (..., n, v), becomes zero, or the array under its name, which
            broadcasts to that shape. `head_means` makes such a dict.
        weights : bool, default True
            False: return None in their place, and do not keep them.
        layers : int, optional
            Run only the first so many layers; all, if left out. No layer knows of those after it, so the weights of
            the layers that do run are the same, and come sooner.

        Returns
        -------
        states : ndarray of shape (..., n, m)
            After the last layer that ran.
        weights : ndarray
            (..., layers, h, n, n): for each layer the weights of its heads.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If an id is unknown, there are more tokens than positions, the mask does not fit, a head in `without`
            does not exist, or there are not so many layers.
        """
        ids, mask, replaced = self._checked("run", ids, mask, without)
        arrays = self.arrays
        if layers is not None:
            if not 1 <= as_integer("run", "layers", layers) <= self.sizes.layers:
                raise ValueError(f"run: layers must be from 1 to {self.sizes.layers}; got {layers}.")
            arrays = arrays._replace(layers=arrays.layers[:layers])
        states, inside = run_layers(self._rows.of(ids), arrays, self.sizes, self._functions, mask, replaced, bool(weights))
        return states, inside.weights if weights else None

    def inside(self, ids, *, mask=None, without=()):
        """Run a text as `run` does, and return all that there is to look at.

        Parameters
        ----------
        ids, mask, without
            As for `run`.

        Returns
        -------
        inside : Inside
            The states before the first layer and after each, and of every head the weights, values and outputs.

        Raises
        ------
        TypeError, ValueError
            As for `run`.
        """
        ids, mask, replaced = self._checked("inside", ids, mask, without)
        return run_layers(self._rows.of(ids), self.arrays, self.sizes, self._functions, mask, replaced, True)[1]

    def head_means(self, texts):
        """The mean output of every head over all tokens of some texts, to put in its place instead of zero.

        Parameters
        ----------
        texts : list of str

        Returns
        -------
        means : dict from (layer, head) to ndarray of shape (v,)
            Choose the heads to replace: ``without={place: means[place]}``.

        Raises
        ------
        TypeError
            If `texts` is not a list of strings.
        ValueError
            If there is no text; or as for `tokenize`.
        """
        ids = [self.tokenize(text) for text in _as_texts("head_means", texts)]
        if not ids:
            raise ValueError("head_means: texts must hold at least one text.")
        means = np.concatenate([self.inside(each).outputs for each in ids], axis=-2).mean(axis=-2)
        return {place: means[place] for place in np.ndindex(means.shape[:-1])}

    def embed(self, texts, *, without=()):
        """One vector of length one for each text: the mean of its states, scaled. Similar texts have similar vectors.

        Parameters
        ----------
        texts : list of str
        without
            As for `run`.

        Returns
        -------
        vectors : ndarray of shape (b, m)
            ``vectors @ vectors.T`` holds the similarity of each two texts, their cosine.

        Raises
        ------
        TypeError
            If `texts` is not a list of strings.
        ValueError
            As for `tokenize` and `run`.
        """
        ids = [self.tokenize(text) for text in _as_texts("embed", texts)]
        vectors = np.zeros((len(ids), self.sizes.m), self.dtype)
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))  # so that little is padded
        together = 1 if self._functions.mha else _TOGETHER  # mha takes no mask, so each text runs by itself
        for start in range(0, len(order), together):
            chosen = order[start : start + together]
            tokens, lengths = self.pad([ids[i] for i in chosen])
            mask = padding_mask(lengths[:, np.newaxis], tokens.shape[1]) if len(chosen) > 1 else None
            states, _ = self.run(tokens, mask=mask, without=without, weights=False)
            vectors[chosen] = self.pool(states, lengths)
        return vectors

    def pad(self, texts):
        """Put the ids of several texts into one array, filled up with [PAD] on the right.

        Parameters
        ----------
        texts : list of array_like of shape (n,)

        Returns
        -------
        ids : ndarray of shape (b, n)
        lengths : ndarray of shape (b,)

        Raises
        ------
        TypeError
            If a text does not hold integers.
        ValueError
            If there is no text.
        """
        return padded([self._rows.as_ids("pad", text) for text in texts], self.tokenizer.vocabulary["[PAD]"])

    def pool(self, states, lengths=None):
        """The mean of the states of each text, over what is not padding, scaled to length one.

        Parameters
        ----------
        states : array_like of shape (..., n, m)
        lengths : array_like of int, shape (...), optional
            How many tokens of each text are real; all, if left out.

        Returns
        -------
        vectors : ndarray of shape (..., m)

        Raises
        ------
        TypeError
            If `states` does not hold real numbers, or `lengths` integers.
        ValueError
            If a length is not between 1 and n, or the shapes do not fit.
        """
        return pooled(states, lengths)

    def _checked(self, function, ids, mask, without):
        ids, sizes = self._rows.as_ids(function, ids), self.sizes
        if ids.ndim < 1 or not 1 <= ids.shape[-1] <= sizes.positions:
            raise ValueError(f"{function}: ids must have the shape (..., n), with n from 1 to {sizes.positions}; got {ids.shape}.")
        if mask is not None:
            if self._functions.mha is not None:
                raise ValueError(
                    f"{function}: mha takes no mask. Run each text by itself, or load the model with softmax=… or sdpa=…."
                )
            shape = (*ids.shape[:-1], sizes.heads, ids.shape[-1], ids.shape[-1])
            mask = as_mask(function, mask, shape, self.dtype, axes="(..., heads, q, k)")
        return ids, mask, as_ablation(function, without, sizes.layers, sizes.heads)


def _as_texts(function, texts):
    if isinstance(texts, str) or not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{function}: texts must be a list of strings; got {type(texts).__name__}.")
    return texts
