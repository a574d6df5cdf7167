"""Text as integers and back: each character is a token."""

import numpy as np

from attnlib.training.arguments import as_tokens


def alphabet_of(text):
    """The characters that occur in a text, each once, sorted.

    Parameters
    ----------
    text : str

    Returns
    -------
    alphabet : str

    Raises
    ------
    TypeError
        If `text` is not a string.

    Examples
    --------
    >>> alphabet_of("attention")
    'aeinot'
    """
    return "".join(sorted(set(_as_text("alphabet_of", "text", text))))


def encode(text, alphabet):
    """The place of each character in the alphabet.

    Parameters
    ----------
    text : str
    alphabet : str

    Returns
    -------
    tokens : ndarray of shape (n,)

    Raises
    ------
    TypeError
        If an argument is not a string.
    ValueError
        If a character is not in the alphabet.

    Examples
    --------
    >>> encode("ten", "aeinot")
    array([5, 1, 3])
    """
    place = {character: i for i, character in enumerate(_as_text("encode", "alphabet", alphabet))}
    unknown = sorted(set(_as_text("encode", "text", text)) - set(place))
    if unknown:
        raise ValueError(f"encode: every character must be in the alphabet; {', '.join(map(repr, unknown))} is not.")
    return np.array([place[character] for character in text], np.int64)


def decode(tokens, alphabet):
    """The characters at these places of the alphabet: undo `encode`.

    Parameters
    ----------
    tokens : array_like of shape (n,)
    alphabet : str

    Returns
    -------
    text : str

    Raises
    ------
    TypeError
        If `tokens` holds no integers or `alphabet` is not a string.
    ValueError
        If `tokens` has not one axis, or a token is not a place of the alphabet.

    Examples
    --------
    >>> decode([5, 1, 3], "aeinot")
    'ten'
    """
    alphabet = _as_text("decode", "alphabet", alphabet)
    tokens = as_tokens("decode", "tokens", tokens, len(alphabet))
    if tokens.ndim != 1:
        raise ValueError(f"decode: tokens must have the shape (n,); got {tokens.shape}.")
    return "".join(alphabet[token] for token in tokens)


def _as_text(function, name, text):
    if not isinstance(text, str):
        raise TypeError(f"{function}: {name} must be a string; got {type(text).__name__}.")
    return text
