"""WordPiece, the tokenizer of BERT: text becomes words, and a word becomes the longest pieces that the vocabulary has."""

import re
import unicodedata
from collections.abc import Mapping

# Chinese characters are words of their own; the ranges are those of BERT's tokenizer.
_CHINESE = re.compile(
    "([\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f\U0002b920-\U0002ceaf"
    "\uf900-\ufaff\U0002f800-\U0002fa1f])"
)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LONGEST_WORD = 100  # characters; a longer word is unknown


class WordPiece:
    """A vocabulary of pieces, and the rule that cuts a text into them.

    Parameters
    ----------
    vocabulary : dict from str to int
        The id of each piece. A piece that continues a word begins with ``##``. The five pieces [PAD], [UNK], [CLS],
        [SEP] and [MASK] have to be among them.

    Raises
    ------
    TypeError
        If `vocabulary` is not a dict from strings to integers.
    ValueError
        If two pieces have one id, or one of the five special pieces is missing.

    References
    ----------
    .. [1] Schuster and Nakajima (2012), "Japanese and Korean Voice Search": the vocabulary.
    .. [2] Devlin et al. (2019), "BERT", section 3: the special tokens.

    Examples
    --------
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "attend", "##ing", "##s", "to", "!"]
    >>> small = WordPiece({piece: i for i, piece in enumerate(pieces)})
    >>> small.pieces("Attending to attends!")
    ['attend', '##ing', 'to', 'attend', '##s', '!']
    >>> small.encode("Attending to cats")
    [2, 5, 6, 8, 1, 3]
    """

    def __init__(self, vocabulary):
        if not isinstance(vocabulary, Mapping) or not all(
            isinstance(piece, str) and type(i) is int for piece, i in vocabulary.items()
        ):
            raise TypeError("WordPiece: vocabulary must be a dict from pieces to integers.")
        self.vocabulary = dict(vocabulary)
        self.by_id = {i: piece for piece, i in self.vocabulary.items()}
        if len(self.by_id) < len(self.vocabulary):
            raise ValueError("WordPiece: each piece of the vocabulary must have an id of its own.")
        if missing := [piece for piece in SPECIAL if piece not in self.vocabulary]:
            raise ValueError(f"WordPiece: the vocabulary must hold {', '.join(SPECIAL)}; {missing[0]} is missing.")

    def pieces(self, text):
        """Cut a text into pieces, without the two special ones around it.

        Parameters
        ----------
        text : str
            A special piece that is written out, such as ``[MASK]``, stays whole.

        Returns
        -------
        list of str

        Raises
        ------
        TypeError
            If `text` is not a string.
        """
        if not isinstance(text, str):
            raise TypeError(f"WordPiece: text must be a string; got {type(text).__name__}.")
        found = []
        for part in re.split("(" + "|".join(map(re.escape, SPECIAL)) + ")", text):
            found += [part] if part in SPECIAL else [piece for word in words(part) for piece in self._longest_first(word)]
        return found

    def encode(self, text, max_length=None):
        """The ids of a text's pieces, with [CLS] before them and [SEP] behind.

        Parameters
        ----------
        text : str
        max_length : int, optional
            The most ids there may be, at least 2. The end of a longer text is cut off, before [SEP].

        Returns
        -------
        list of int

        Raises
        ------
        TypeError
            If `text` is not a string.
        """
        inside = [self.vocabulary[piece] for piece in self.pieces(text)]
        if max_length is not None:
            inside = inside[: max_length - 2]
        return [self.vocabulary["[CLS]"], *inside, self.vocabulary["[SEP]"]]

    def _longest_first(self, word):
        # The longest piece at the front, then the longest continuation, until nothing is left. One unknown rest makes the
        # whole word unknown.
        found, begin = [], 0
        while begin < len(word):
            lead = "##" if begin else ""
            ends = range(len(word), begin, -1)
            end = next((end for end in ends if lead + word[begin:end] in self.vocabulary), None)
            if end is None or len(word) > _LONGEST_WORD:
                return ["[UNK]"]
            found.append(lead + word[begin:end])
            begin = end
        return found


def words(text):
    """Clean a text and cut it into words: lower case, no accents, each punctuation mark and Chinese character alone.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str

    Examples
    --------
    >>> words("Don't  panic, Zoë!")
    ['don', "'", 't', 'panic', ',', 'zoe', '!']
    """
    text = "".join(" " if character.isspace() else character for character in text if not _is_control(character))
    text = unicodedata.normalize("NFD", _CHINESE.sub(r" \1 ", text))
    text = "".join(character for character in text if unicodedata.category(character) != "Mn")
    # Letter by letter: Python would write the last sigma of a word in another way than one inside it.
    text = "".join(character.lower() for character in text)
    return "".join(f" {character} " if _is_punctuation(character) else character for character in text).split()


def _is_control(character):
    if character in "\t\n\r":
        return False
    return character in "\0\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co")


def _is_punctuation(character):
    # ASCII symbols such as $ and + count too, although Unicode does not call them punctuation.
    return character.isascii() and not character.isalnum() and not character.isspace() or unicodedata.category(character)[0] == "P"
