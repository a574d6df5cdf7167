"""The exercise on the induction score: how much weight a head puts on what came after earlier copies of its token."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.softmax.stable import plain_softmax


def induction_score(weights, tokens):
    n = tokens.shape[1]
    same = tokens[:, :, np.newaxis] == tokens[:, np.newaxis, :]
    copies = same & np.tri(n, k=-1, dtype=bool)
    after = np.zeros_like(copies)
    after[:, :, 1:] = copies[:, :, :-1]
    found = (weights * after).sum(axis=-1)
    return found[copies.any(axis=-1)].mean()


def _oracle(weights, tokens):
    found = []
    for row, text in zip(weights.tolist(), tokens.tolist(), strict=True):
        for query, token in enumerate(text):
            keys = [key for key in range(1, query + 1) if text[key - 1] == token]
            if keys:
                found.append(math.fsum(row[query][key] for key in keys))
    return math.fsum(found) / len(found)


def _causal(rng, tokens):
    b, n = np.shape(tokens)
    scores = 2 * rng.standard_normal((b, n, n))
    return plain_softmax(np.where(np.tri(n, dtype=bool), scores, -np.inf)), np.array(tokens)


def _case(*texts):
    """Weights are drawn, tokens are given as letters."""
    return lambda rng: _causal(rng, [[ord(letter) - ord("a") for letter in text] for text in texts])


def _with_a_copy(args):
    """A mean over no query is none: a case made smaller keeps a copy, and stays square and causal."""
    weights, tokens = args
    b, n = tokens.shape
    if weights.shape != (b, n, n) or all(len(set(text)) == n for text in tokens.tolist()):
        raise ValueError("no token occurs twice")
    return np.where(np.tri(n, dtype=bool), weights, 0), tokens


def _each_text(weights, tokens):
    """A mean for each text, and then the mean of these."""
    own = [induction_score(weights[i : i + 1], tokens[i : i + 1]) for i in range(len(tokens)) if len(set(tokens[i].tolist())) < tokens.shape[1]]
    return np.mean(own)


def _hits(weights, tokens):
    """How often the largest weight lies on such a key."""
    chosen = np.eye(tokens.shape[1])[weights.argmax(axis=-1)]
    return induction_score(chosen, tokens)


def _previous(weights, tokens):
    return np.diagonal(weights, offset=-1, axis1=-2, axis2=-1).mean()


_MOVE = "after[:, :, 1:] = copies[:, :, :-1] ->"
_BEGIN = "after = np.zeros_like(copies) ->"
_BEGUN = "\nafter = np.zeros_like(copies)"

_SCORE = Exercise(
    title="Write the induction score", level="medium", minutes=12, blanks=4, oracle=_oracle, solution=induction_score,
    probes=(
        Probe("2 texts of 7 tokens, words that come again", _case("abcabca", "deedffd")),
        Probe("4 texts of 4 tokens", _case("abab", "cdec", "ffgf", "abcd"), "equal", "Axes of one size."),
        Probe("3 texts of 5 tokens, in which many letters are new", _case("abcda", "fghij", "aabcb"),
            why="Texts with two, none and one copy: a mean for each text is another number."),
        Probe("one text of 9 tokens, a token with many copies", _case("abaabcaba"), why="One copy, the first or the latest, is not enough."),
        Probe("one text, the same token twice", _case("aa"), "edge", "The key after the copy is the query itself."),
    ),
    mistakes=(
        Mistake("itself", _MOVE + " after[:] = copies",
            "You counted the weight on the copy itself. An induction head looks at what came right after it.", 2, sets="place"),
        Mistake("left", _MOVE + " after[:, :, :-1] = copies[:, :, 1:]",
            "You moved the copies one place to the left, to what came before them. The head looks at what came after.", 2, sets="place"),
        Mistake("queries_moved", _MOVE + " after[:, 1:, :] = copies[:, :-1, :]",
            "You moved the copies along the queries. It is the key that stands one place after the copy.", 2, sets="place"),
        Mistake("later", "np.tri(n, k=-1, dtype=bool) -> ~np.tri(n, dtype=bool)",
            "You looked for later copies of the query's token. A causal head can only look at earlier ones.", 1, sets="copies"),
        Mistake("latest", _BEGIN + " copies = copies & (np.cumsum(copies[:, :, ::-1], axis=-1)[:, :, ::-1] == 1)" + _BEGUN,
            "You took only the latest copy of each token. All earlier copies count.", 1, sets="copies"),
        Mistake("first", _BEGIN + " copies = copies & (np.cumsum(copies, axis=-1) == 1)" + _BEGUN,
            "You took only the first copy of each token. All earlier copies count.", 1, sets="copies"),
        Mistake("each_copy", "(weights * after).sum(axis=-1) -> (weights * after).sum(axis=-1) / np.maximum(after.sum(axis=-1), 1)",
            "You took a mean over the copies of a query. Their weights are added up.", 3, sets="found"),
        Mistake("largest", "(weights * after).sum(axis=-1) -> (weights * after).max(axis=-1)",
            "You took the largest of the weights of a query. They are added up.", 3, sets="found"),
        Mistake("over_keys", "(weights * after).sum(axis=-1) -> (weights * after).mean(axis=-1)",
            "You took a mean over all keys. The weights of a query are added up, and only then comes a mean over queries.", 3,
            shows="factor", sets="found"),
        Mistake("no_weights", "(weights * after) -> after",
            "You counted keys. The head's weights on them are missing.", 3, sets="found"),
        Mistake("transposed", "weights * after -> np.swapaxes(weights, 1, 2) * after",
            "You read the weights with queries and keys exchanged. Each row belongs to a query.", 1, sets="weights"),
        Mistake("over_queries", "(weights * after).sum(axis=-1) -> (weights * after).sum(axis=-2)",
            "You added up over the queries. For each query, the weights on its keys are added up.", 3, sets="found"),
        Mistake("new_counted", "found[copies.any(axis=-1)].mean() -> found.mean()",
            "You took the mean over all queries, also over those without an earlier copy, which have nothing to look for.", 3, sets="mean"),
        Mistake("summed", "found[copies.any(axis=-1)].mean() -> found.sum()",
            "You added up over the queries. The score is their mean.", 3, sets="mean"),
        Mistake("mean_of_texts", _each_text,
            "You took a mean for each text, and then the mean of these. All queries with a copy count alike.", 3),
        Mistake("hits", _hits,
            "You counted how often the largest weight of a query lies there. The score adds up the weights themselves.", 3),
        Mistake("previous", _previous,
            "You measured the weight on the token before. That is the previous-token score.", 1),
    ),
    hints=(
        "Take one query. Where in the text does its token stand earlier? The head should look one place to the right of each of these "
        "places.",
        "`same & np.tri(n, k=-1, dtype=bool)` keeps the earlier copies. Move this array by one place along its last axis, the keys, and "
        "let False come in at the left.",
        "`(weights * after).sum(axis=-1)` adds up for each query. Take its mean where `copies.any(axis=-1)` is True.",
    ),
    why="A table of queries and keys says where the copies are, and moved by one key it says where to look. The mean leaves out "
    "queries without a copy, because no head could find anything for them.",
    insight="The score needs no answer of the model. It says where a head looks, and not whether anything depends on it.",
    consistent=_with_a_copy, outputs=("score",),
)  # fmt: skip
