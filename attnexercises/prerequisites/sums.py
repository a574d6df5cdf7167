"""Two short exercises on sums: one with a Kronecker delta, and the variance of one."""

import math

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise

# --- delta_sum -------------------------------------------------------------------------------------------


def delta_sum():
    a = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]])
    g = np.array([1, 10, 100])
    return (np.diag(a) * g).sum()  # the delta keeps the terms with i = j: one sum is left


def _delta_sum_oracle():
    a, g = [[1, 2, 3], [4, 5, 6], [7, 8, 10]], [1, 10, 100]
    total = 0
    for i in range(3):
        for j in range(3):
            if i == j:
                total += a[i][j] * g[j]
    return total


DELTA_SUM = value_exercise(
    title="A sum with a Kronecker delta", level="easy", minutes=3, answer=delta_sum, oracle=_delta_sum_oracle,
    mistakes=(
        Mistake("delta_ignored", lambda: 2062, "You added all nine terms. The delta is 0 unless i = j, so most of them vanish.", 1),
        Mistake("off_diagonal", lambda: 1011,
            "You added the terms with different i and j. The delta is 1 where they are equal.", 1),
        Mistake("no_g", lambda: 16, "This is the sum of the diagonal of A. Each term also has its factor g.", 3),
        Mistake("one_term", lambda: 1,
            "Only one term is left in your sum. The delta removes one of the two sums, and the other sum still runs.", 2),
        Mistake("factored", lambda: 1776,
            "You added up g separately, but each g belongs to one term of the sum. Add the products.", 3),
        Mistake("misread", lambda: 951, "You read the last entry of A as 9. It is 10, and breaks the pattern on purpose.", 1),
        Mistake("anti_diagonal", lambda: 357,
            "You added the diagonal from top right to bottom left. The one with i = j starts at the top left.", 1),
        Mistake("from_one", lambda: 1050,
            "The term with i = j = 0 is missing: indices count from 0, so the first row and the first column are number 0.", 1),
        Mistake("last_term", lambda: 1000,
            "This is the last term of the sum alone. There is one term for each entry of the diagonal.", 2),
        Mistake("only_g", lambda: 111,
            "You added up g alone. Each g belongs to a product, and its other factor is the entry of A with i = j.", 3),
        Mistake("last_left_out", lambda: 51,
            "The last term is missing in your sum. The indices run over all three numbers, 0, 1 and 2.", 2),
        Mistake("row_0", lambda: 321,
            "You added the products of row 0 of A. There i stays 0, but the delta lets i run and makes j follow it.", 1),
        Mistake("column_0", lambda: 741,
            "You took the entries of column 0 of A. The delta keeps the entries with i = j, one in each column.", 1),
        Mistake("terms_multiplied", lambda: 50000,
            "You multiplied the three terms. The sum over i adds them.", 3),
        Mistake("vector", lambda: np.array([1, 50, 1000]),
            "These are the right three terms. The sum over the other index still adds them up to one number.", 2),
    ),
    hints=(
        "The delta is 1 where i equals j, and 0 elsewhere. Which of the nine terms survive?",
        "In the sum over j, the delta leaves only the term with j = i. The sum over j and the delta disappear together, and the "
        "sum over i stays.",
        "What is left is the sum over i of A_ii g_i: three products, one for each entry of the diagonal.",
    ),
    why="The delta removes one sum by picking the term with j = i. What is left is a single sum over the diagonal.",
    insight="A delta removes one sum and renames its index. That is how the coming derivations use it.",
)  # fmt: skip


# --- variance_of_sum -------------------------------------------------------------------------------------


def variance_of_sum():
    one_term = 1 * 4  # independent and of mean 0: the variance of the product is the product of the variances
    return 64 * one_term  # independent terms: their variances add up


def _variance_of_sum_oracle():
    """Exact, for q = -1, 1 and k = -2, 2: the distribution of the sum, built up term by term."""
    chances = {0: 1.0}
    for _ in range(64):
        longer = {}
        for total, chance in chances.items():
            for q in (-1, 1):
                for k in (-2, 2):
                    longer[total + q * k] = longer.get(total + q * k, 0.0) + chance / 4
        chances = longer
    mean = math.fsum(chance * total for total, chance in chances.items())
    return math.fsum(chance * (total - mean) ** 2 for total, chance in chances.items())


VARIANCE_OF_SUM = value_exercise(
    title="The variance of a dot product", level="medium", minutes=5, answer=variance_of_sum, oracle=_variance_of_sum_oracle,
    quantities={"64 features": 64, "128 random numbers": 128},
    mistakes=(
        Mistake("standard_deviation", lambda: 16, "This is the standard deviation. The variance, its square, is asked for.", 1),
        Mistake("one_term", lambda: 4, "This is the variance of one product. The variances of the 64 independent terms add up.", 2),
        Mistake("count_only", lambda: 64,
            "The variance of the second vector is missing: one product has the variance 1 times 4.", 2),
        Mistake("variances_added", lambda: 320,
            "Variances add up in a sum. In a product of independent numbers with mean 0 they multiply.", 2),
        Mistake("as_deviation", lambda: 1024, "You squared the 4, but it is already a variance, not a standard deviation.", 1),
        Mistake("root_of_variance", lambda: 128,
            "You multiplied the standard deviations, 1 and 2, and added the products. But variances add up, not deviations.", 1),
        Mistake("count_squared", lambda: 16384,
            "You squared the 64. That is right for 64 times the same number, but not for a sum of 64 independent numbers.", 3),
        Mistake("root_of_count", lambda: 32,
            "You took the root of 64. A standard deviation grows with the root of the number of terms, a variance with the "
            "number.", 2),
        Mistake("count_added", lambda: 68,
            "You added 64 and 4. There are 64 terms, and each of them has the variance 4.", 2),
        Mistake("halved", lambda: 2,
            "You divided the variance of one product by 2. Nothing is averaged here: the variances of 64 products add up.", 2),
        Mistake("mean", lambda: 0.0625, "This is the variance of the mean of the 64 products. A dot product is their sum.", 3),
        Mistake("expectation", lambda: 0,
            "This is the mean of the dot product. The variance says how far it strays from the mean.", 1),
    ),
    hints=(
        "The variance is the mean of the squared distance from the mean, and everything here has mean 0. First take the product of "
        "one pair of features alone.",
        "For independent x and y with mean 0, the mean of (x y) squared is the mean of x squared times the mean of y squared. And "
        "the variances of independent terms add up.",
        "One product has the variance 1 times 4. There are 64 independent ones.",
    ),
    why="Independence makes the variance of one product the product of the variances, since both means are 0. It also makes the 64 "
    "variances add up, because the mixed terms average to 0.",
    insight="The variance grows like the number of features d. Dividing the dot product by sqrt(d) undoes the growth.",
)  # fmt: skip
