"""The known mistakes in `distance_attention`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

DISTANCE_ATTENTION = (
    Mistake(
        "same_for_all", "softmax(QK^T) V",
        "What you added raises all scores of a query alike, and that changes no weight.", 1,
    ),
    Mistake(
        "whole_square", "-|k|^2 in place of -|k|^2 / 2",
        "The whole squared length of each key goes into its score. Expand the distance, then halve it.", 2,
        sets="key",
    ),
    Mistake(
        "length", "-|k| / 2 in place of -|k|^2 / 2",
        "Half the length of each key goes into its score; what the expansion leaves is half of its square.", 2,
        sets="key",
    ),
    Mistake(
        "whole_length", "-|k| in place of -|k|^2 / 2",
        "The length of each key goes into its score; what the expansion leaves is half of its square.", 2,
        sets="key",
    ),
    Mistake(
        "sum_of_entries", "-sum(k) / 2",
        "You added up the entries of each key; the expansion has their squares.", 2,
        sets="key",
    ),
    Mistake(
        "mean_square", "the mean of the squares",
        "You averaged the squares of a key's features; a squared length is their sum.", 2,
    ),
    Mistake(
        "sign", "+|k|^2 / 2",
        "The term of the keys has the opposite sign: a long key has to lose by it.", 2,
    ),
    Mistake(
        "both_norms", "-|q|^2 / 2 in the query, -|k|^2 / 2 in the key",
        "The two new features meet in a product: with a norm in each, norms get multiplied, not added.", 3,
        sets="query",
    ),
    Mistake(
        "query_norm", "|q|^2 in the query",
        "The length of the query got into the score as a factor; a dot product multiplies the two new "
        "features.", 3,
        sets="query",
    ),
    Mistake(
        "far", "softmax of + |q - k|^2 / 2",
        "The sign of the whole score is turned round: the nearest key has to get the largest weight.", 1,
    ),
    Mistake(
        "not_halved", "softmax of -|q - k|^2",
        "The squared distance went in whole; the exercise asks for half of it.", 2,
    ),
    Mistake(
        "root_of_distance", "softmax of -|q - k|",
        "The score falls with the distance itself, here with half of its square.", 1,
    ),
    Mistake(
        "root_d", "divided by sqrt(d)",
        "The scores were divided by the root of d; here the exercise asks for no factor.", 1,
    ),
    Mistake(
        "unit_keys", "k / |k|",
        "You shortened all keys to length one: that compares directions, and forgets how far away a key is.", 1,
    ),
    Mistake(
        "no_max", "exp without the maximum",
        "Large exponents overflow: the softmax has to measure each row against its maximum.", 3,
        shows="lost",
    ),
    Mistake(
        "sum_for_difference", "softmax of -|q + k|^2 / 2",
        "This measures q + k in the place of q - k: in the expansion of the square, the product of the two "
        "has a minus.", 2,
        sets="product",
    ),
    Mistake(
        "no_two", "-(|q|^2 - q k + |k|^2) / 2",
        "In the expansion of |q - k|^2 the product of the two counts twice; here it counts once.", 2,
        sets="product",
    ),
    Mistake(
        "mean_distance", "softmax of -mean((q - k)^2) / 2",
        "The squared differences were averaged over the features; a squared distance is their sum.", 2,
    ),
    Mistake(
        "city_block", "softmax of -sum(|q - k|)",
        "The absolute differences were added up; the exercise measures by their squares.", 1,
        sets="score",
    ),
    Mistake(
        "cosine", "softmax of cosines",
        "Query and key were both brought to length one: that compares directions and forgets how far apart "
        "the two are.", 1,
        sets="score",
    ),
    Mistake(
        "nearest", "the value of the nearest key",
        "You picked the nearest key; the softmax gives each key a share.", 1,
        sets="weights",
    ),
    Mistake(
        "axis_queries", "softmax over the queries",
        "The shares were formed over the queries; each query has to spread its own over the keys.", 3,
        sets="weights",
    ),
    Mistake(
        "not_normalised", "exp(-|q - k|^2 / 2) V",
        "The exponentials met the values as they are; each query's have to be divided by their sum first.", 3,
        sets="weights",
    ),
)
