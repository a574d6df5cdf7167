"""The exercise that turns a paper's two sentences about its mask into a rule on positions."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def paper_mask(i, j, window, has_global):
    near = np.abs(i - j) <= window // 2
    return near | has_global[i] | has_global[j]


def _oracle(i, j, window, has_global):
    """One pair after the other, and the neighbours counted out one by one."""
    mask = np.zeros((len(i), len(j)), dtype=bool)
    for row, query in enumerate(i[:, 0]):
        neighbours = {int(query)}
        for step in range(1, window // 2 + 1):
            neighbours |= {int(query) - step, int(query) + step}
        for column, key in enumerate(j):
            mask[row, column] = int(key) in neighbours or bool(has_global[query]) or bool(has_global[key])
    return mask


def _block(rows, columns, n, window, chosen):
    """The inputs for a block of pairs in a text of n tokens, of which the `chosen` ones have global attention."""

    def make(rng):
        has_global = np.zeros(n, dtype=bool)
        has_global[list(chosen)] = True
        return np.array(rows)[:, np.newaxis], np.array(columns), window, has_global

    return make


def _with_an_even_window(args):
    if args[2] % 2:
        raise ValueError("The task promises an even window.")
    return args


_PAPER = Exercise(
    title="Write the mask of a paper as a rule", level="medium", minutes=15, blanks=2, oracle=_oracle, solution=paper_mask,
    consistent=_with_an_even_window,
    probes=(
        Probe("a block of 4 queries and 7 keys", _block(range(3, 7), range(2, 9), 10, 4, [5, 8])),
        Probe("all pairs of 8 tokens", _block(range(8), range(8), 8, 4, [2]), "equal", "here places and positions agree"),
        Probe("all pairs, no global token", _block(range(6), range(6), 6, 2, []), "equal", "then only the window is left"),
        Probe("one query, 9 keys", _block([4], range(9), 9, 4, [0]), "edge", "the step of a decoder"),
        Probe("a block far from the diagonal", _block(range(9, 12), range(5), 12, 4, [3, 10]), "edge",
            "only the global tokens are left"),
        Probe("a window of 0", _block(range(2, 5), range(6), 7, 0, [6]), "edge", "each token sees itself alone"),
        Probe("positions in any order", _block([6, 0, 3], [5, 1, 7, 3], 9, 10, [1]),
            why="a rule compares positions, wherever they stand"),
        Probe("every token is global", _block(range(3), range(4), 5, 2, range(5)), "edge", "then nothing is hidden"),
    ),
    mistakes=(
        Mistake("causal", "return near -> near = near & (j <= i)\nreturn near",
            "Your window hides the future. The paper's window has two sides: this model reads and does not write.", 1, sets="near"),
        Mistake("one_sided", "np.abs(i - j) -> (i - j)",
            "You took the difference of the positions without its absolute value: one side of the window has no end.", 1,
            sets="near"),
        Mistake("whole_window", "window // 2 -> window",
            "Each side got the whole window. In the paper the window is shared by both sides.", 2, sets="near"),
        Mistake("looks_back", "np.abs(i - j) <= window // 2 -> i - j < window",
            "Your window only limits how far a token looks back. The paper's window has two sides, each half of it.", 1, sets="near"),
        Mistake("cut_in_blocks", "np.abs(i - j) <= window // 2 -> i // max(window, 1) == j // max(window, 1)",
            "You cut the text into blocks of the window's size. In the paper each token stands in the middle of its own window.", 1, sets="near"),
        Mistake("strict", "<= window -> < window", "Your window ends one token too early on each side.", 2, sets="near"),
        Mistake("one_more", "<= window // 2 -> < window // 2 + 2", "Your window reaches one token too far on each side.", 2, sets="near"),
        Mistake("forward_only", "return near -> near = near & (j >= i)\nreturn near",
            "Your window hides the past. The paper's window has two sides, so a token also sees the tokens before it.", 1, sets="near"),
        Mistake("quarter_window", "window // 2 -> window // 4",
            "Each side got a quarter of the window. Half of it lies on each side.", 2, sets="near"),
        Mistake("not_itself", "return near -> near = near & (i != j)\nreturn near",
            "A token has to see itself: its distance from itself is 0, which is inside every window.", 2, sets="near"),
        Mistake("global_sees", "| has_global[j] ->",
            "Global tokens see every token in your mask, but the other tokens do not see them.", 2, sets="global"),
        Mistake("global_is_seen", "| has_global[i] ->",
            "Every token sees the global tokens in your mask, but the global tokens do not see every token.", 2, sets="global"),
        Mistake("global_pairs", "has_global[i] | has_global[j] -> (has_global[i] & has_global[j])",
            "You joined the two global conditions with AND. One global token in a pair is enough.", 2, sets="global"),
        Mistake("global_exactly_one", "has_global[i] | has_global[j] -> (has_global[i] ^ has_global[j])",
            "You joined the two global conditions with XOR. Two global tokens see each other as well.", 2, sets="global"),
        Mistake("global_places", "has_global[i] | has_global[j] -> has_global[: len(i), np.newaxis] | has_global[: j.shape[-1]]",
            "You looked up the global tokens by row and column of the block. Look them up by the positions `i` and `j`.", 3, sets="global"),
        Mistake("global_past", "has_global[i] | has_global[j] -> has_global[i] | (has_global[j] & (j <= i))",
            "You let a token see the global tokens before it only. Every token sees all of them.", 2, sets="global"),
        Mistake("only_window", "| has_global[i] | has_global[j] ->",
            "Only the window is in your rule; the global tokens are missing.", 1, sets="global"),
        Mistake("only_global", "near | ->", "Only the global tokens are in your rule; the window is missing.", 1, sets="near"),
        Mistake("and", "near | has_global[i] | has_global[j] -> near & (has_global[i] | has_global[j])",
            "You joined the window and the global tokens with AND. A pair is allowed if either of them allows it.", 2,
            sets="near global"),
        Mistake("block_places", "near = -> i, j = np.arange(i.shape[0])[:, np.newaxis], np.arange(j.shape[-1])\nnear =",
            "You counted the rows and columns of the block. The rule needs the positions `i` and `j` in the text.", 3),
        Mistake("causal_everywhere",
            "return near | has_global[i] | has_global[j] -> return (near | has_global[i] | has_global[j]) & (j <= i)",
            "Your mask hides the future, from global tokens as well. This model reads a whole text and does not write.", 1, sets="near global"),
        Mistake("inverted", "near | has_global[i] | has_global[j] -> ~(near | has_global[i] | has_global[j])",
            "True and False have changed places: True has to mean that the query may look at the key.", 1, shows="complement",
            sets="all"),
        Mistake("additive", "near | has_global[i] | has_global[j] -> np.where(near | has_global[i] | has_global[j], 0.0, -np.inf)",
            "You returned the additive form, 0 and -inf; this exercise asks for True and False.", 1, sets="all"),
    ),
    hints=(
        "Take the two sentences of the paper one by one. Each of them allows some pairs. When is a pair allowed in the end: if "
        "both sentences allow it, or if one of them does?",
        "For the window, ask how far apart the two positions are, in either direction, and compare that distance with half of the "
        "window. For the global tokens there are two cases: the query is global, or the key is.",
        "`has_global[i]` looks up the query positions and has the shape of `i`, a column; `has_global[j]` has the shape of `j`, a "
        "row. Join the column, the row and the window with OR, and broadcasting does the rest.",
    ),
    why="Each sentence of the paper is one condition, and OR joins them because each sentence allows pairs. Only positions are "
    "compared, so the same function serves any block of the mask.",
    insight="The mask is symmetric: if a token sees another one, the other sees it, too. No causal mask is.",
)  # fmt: skip
