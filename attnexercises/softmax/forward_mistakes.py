"""The known mistakes in `softmax`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

SOFTMAX = (
    Mistake(
        "axis_0", "axis=-1 -> axis=0",
        "The softmax ran over axis 0; it belongs on the last axis, along each row.", 1,
        shows="axis_0_sum rows_sum", sets="axis",
    ),
    Mistake(
        "axis_all", "sum(axis=-1, keepdims=True) -> sum()",
        "`sum()` ran without `axis`, over the whole array; every row needs its own denominator.", 1,
        shows="total_sum rows_sum", sets="total",
    ),
    Mistake(
        "sum_axis_0", "sum(axis=-1 -> sum(axis=0",
        "The sum runs along axis 0; it belongs on the last axis, as the maximum does.", 1,
        shows="axis_0_sum rows_sum", sets="total axis",
    ),
    Mistake(
        "no_exp", "np.exp(shifted) -> x",
        "You divided the raw scores by their sum; exponentiate first, otherwise weights can be negative.", 2,
        shows="negative_rows", sets="total scores_twice",
    ),
    Mistake(
        "only_exp", ("np.exp(shifted) -> np.exp(x)", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> exponentials"),
        "These are the exponentials alone; each has to be divided by the sum of its row.", 3,
        shows="rows_sum", sets="total log",
    ),
    Mistake(
        "no_division", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> exponentials",
        "The exponentials still have to be divided by the sum of their row.", 3,
        shows="largest_one rows_sum", sets="total log",
    ),
    Mistake(
        "no_max", "x - x.max(axis=-1, keepdims=True) -> x",
        "Large exponents overflow: shift each row by its maximum before `exp`.", 2,
        shows="lost", sets="shift",
    ),
    Mistake(
        "max_global", "x.max(axis=-1, keepdims=True) -> x.max()",
        "One maximum for the whole array: a row that lies far below it underflows (0/0). Use the maximum of each "
        "row.", 2,
        shows="lost", sets="shift",
    ),
    Mistake(
        "shift_mean", "x.max( -> x.mean(",
        "Shifting by the mean leaves large exponents when one score stands out; which shift makes all of them at "
        "most 0?", 2,
        shows="lost", sets="shift",
    ),
    Mistake(
        "shift_min", "x.max( -> x.min(",
        "You shift by the minimum of the row, and a wide row overflows; which shift makes all exponents at most "
        "0?", 2,
        shows="lost", sets="shift",
    ),
    Mistake(
        "shift_fixed", "x.max(axis=-1, keepdims=True) -> 1000.0",
        "One constant for all inputs: far below it everything underflows (0/0). Take a shift that depends on the "
        "row.", 2,
        shows="lost", sets="shift",
    ),
    Mistake(
        "shift_reversed", "x - x.max(axis=-1, keepdims=True) -> x.max(axis=-1, keepdims=True) - x",
        "The shift is the wrong way round: the largest score has to get the largest weight.", 3,
    ),
    Mistake(
        "max_axis_0", "x.max(axis=-1 -> x.max(axis=0",
        "You subtract the maximum of each column, which changes the weights within a row; shift a row by its own "
        "maximum.", 3,
        sets="shift axis",
    ),
    Mistake(
        "max_no_keepdims", "x.max(axis=-1, keepdims=True) -> x.max(axis=-1)",
        "The maximum of each row lost its axis: with `keepdims=True` it stays beside its own row.", 3,
        sets="shift",
    ),
    Mistake(
        "sum_no_keepdims", "sum(axis=-1, keepdims=True) -> sum(axis=-1)",
        "Without `keepdims=True` the row sums are broadcast along columns, so that a row meets the sums of other "
        "rows.", 3,
        sets="total",
    ),
    Mistake(
        "log", "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return np.log(exponentials / exponentials.sum(axis=-1, keepdims=True))",
        "You took the logarithm at the end; the weights themselves are asked for.", 3,
        sets="log",
    ),
    Mistake(
        "inplace", "shifted = x - x.max(axis=-1, keepdims=True) -> x -= x.max(axis=-1, keepdims=True)\nshifted = x",
        "Your function writes into its input array: write `x = x - ...` instead of `x -= ...`.", 3,
    ),
    Mistake(
        "int_buffer", "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return (exponentials / exponentials.sum(axis=-1, keepdims=True)).astype(x.dtype)",
        "For integer input the weights are stored in an integer buffer, which cuts them off; make the buffer "
        "float.", 3,
    ),
    Mistake(
        "axis_1", "axis=-1 -> axis=1",
        "You normalised along axis 1, the last one of a matrix only; with more axes the last one is "
        "`axis=-1`.", 1,
        sets="axis",
    ),
    Mistake(
        "rows_of_axis_0", "axis=-1 -> axis=tuple(range(1, x.ndim))",
        "A loop over axis 0 takes whole matrices for rows as soon as there are three axes; a row is what "
        "lies along the last.", 1,
        sets="axis",
    ),
    Mistake(
        "sigmoid", "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return 1 / (1 + np.exp(-x))",
        "This is the logistic function of each score by itself; a softmax compares each score with the "
        "others of its row.", 2,
        sets="weights",
    ),
    Mistake(
        "hardmax", "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return np.eye(x.shape[-1])[x.argmax(axis=-1)]",
        "You picked the largest score of the row; a softmax gives each score a share.", 2,
        sets="weights",
    ),
    Mistake(
        "scaled", "x - x.max(axis=-1, keepdims=True) -> (x - x.max(axis=-1, keepdims=True)) / math.sqrt(x.shape[-1])",
        "The scores were divided by the root of the row's length; that factor belongs to attention, not to "
        "softmax.", 2,
        sets="scores",
    ),
    Mistake(
        "max_divided", "x - x.max(axis=-1, keepdims=True) -> x / x.max(axis=-1, keepdims=True)",
        "You divided by the largest score of the row; subtracting it is what cancels in the quotient.", 2,
        sets="scores",
    ),
    Mistake(
        "twice", "return exponentials / exponentials.sum(axis=-1, keepdims=True) -> return _softmax_logsumexp(exponentials / exponentials.sum(axis=-1, keepdims=True))",
        "The softmax was applied twice: the weights went through it as if they were scores.", 3,
        sets="scores_twice",
    ),
)
