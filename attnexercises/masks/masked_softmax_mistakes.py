"""The known mistakes in `masked_softmax`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

MASKED_SOFTMAX = (
    Mistake(
        "inverted", "keep and hide swapped",
        "The mask is turned round: True means keep.", 1,
    ),
    Mistake(
        "after_no_renorm", "softmax(s) * keep",
        "You masked after the softmax; hidden keys have to go before it.", 2,
        shows="rows_sum", sets="hide",
    ),
    Mistake(
        "after_renorm", "softmax(s) * keep / sum",
        "You masked after the softmax: a hidden key with a huge score wipes out the visible ones. Hide it "
        "before.", 2,
        sets="hide",
    ),
    Mistake(
        "times_zero", "softmax(s * keep)",
        "A score of 0 does not hide a key: the exponential of 0 is 1, and the key still gets a weight.", 2,
        sets="hide",
    ),
    Mistake(
        "add_bool", "softmax(s + keep)",
        "You added True and False, 1 and 0, to the scores: that makes a key e times as likely and hides none.", 2,
        sets="hide",
    ),
    Mistake(
        "minus_ten", "hidden scores = -10",
        "A finite number such as -10 hides a key only while the real scores are higher.", 2,
        sets="hide",
    ),
    Mistake(
        "inf_times", "s + (1 - keep) * -inf",
        "0 times infinity is NaN: choose between two numbers, do not multiply.", 2,
        shows="lost", sets="hide",
    ),
    Mistake(
        "first_of_batch", "keep[0] for all",
        "All batch elements were masked with the mask of the first.", 1,
        shows="one_element",
    ),
    Mistake(
        "inplace", "scores[~keep] = -inf",
        "You wrote into the caller's scores; work on an array of your own.", 1,
    ),
    Mistake(
        "nan_rows", "no care for empty rows",
        "A query with no allowed key meets -inf minus -inf; it should get zeros.", 3,
        shows="lost",
    ),
    Mistake(
        "minus_1e9_add", "s + -1e9",
        "Where -1e9 is added to a whole row, the scores keep their differences; a query with no allowed key "
        "should get zeros.", 3,
        sets="hide",
    ),
    Mistake(
        "minus_1e9_fill", "hidden scores = -1e9",
        "Where a whole row is -1e9, its scores are equal; a query with no allowed key should get zeros.", 3,
        sets="hide",
    ),
    Mistake(
        "no_max", "exp without the maximum",
        "Large exponents overflow: shift each row by its largest visible score.", 2,
        shows="lost", sets="shift",
    ),
    Mistake(
        "max_global", "one maximum for the whole array",
        "One maximum for all rows: a row that lies far below it underflows to zeros. Each row needs its own.", 2,
        shows="lost", sets="shift",
    ),
    Mistake(
        "finfo_min", "hidden scores = the smallest float",
        "A query with no allowed key shares itself evenly among the forbidden ones; it should get zeros.", 3,
        sets="hide",
    ),
    Mistake(
        "softmax_queries", "softmax along the queries",
        "The softmax runs along the queries, the axis before the last; it is the keys that share a query's weight.", 2,
        shows="rows_sum",
    ),
    Mistake(
        "all_not_any", "keep.all in place of keep.any",
        "Queries that hide anything were taken for empty; only those that hide everything are.", 3,
    ),
    Mistake(
        "log", "log of the weights",
        "You returned the logarithms of the weights; the weights themselves are asked for.", 2,
        shows="lost",
    ),
)
