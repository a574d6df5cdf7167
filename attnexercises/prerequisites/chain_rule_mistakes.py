"""The known mistakes in `linear_backward`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

LINEAR_BACKWARD = (
    Mistake(
        "dx_not_transposed", "d_x = d_out @ weight",
        "d_x: going back through a product needs the weight transposed.", 2,
        sets="d_x",
    ),
    Mistake(
        "dx_order", "d_x = weight.T @ d_out",
        "d_x: the factors have changed places. weight stood on the right of x, so it stays on the right of "
        "d_out.", 2,
        sets="d_x",
    ),
    Mistake(
        "dx_transposed", "d_x = (d_out @ weight.T).T",
        "d_x was transposed at the end: a gradient has the shape of the array it belongs to.", 1,
    ),
    Mistake(
        "dw_not_transposed", "d_weight = x @ d_out",
        "d_weight: x has to be transposed, so that the sum runs over the rows of x.", 3,
        sets="d_weight",
    ),
    Mistake(
        "dw_order", "d_weight = d_out @ x.T",
        "d_weight: the factors have changed places. x stood on the left of weight, so it stays on the left.", 3,
        sets="d_weight",
    ),
    Mistake(
        "dw_transposed", "d_weight = d_out.T @ x",
        "d_weight was transposed at the end: a gradient has the shape of the array it belongs to.", 1,
    ),
    Mistake(
        "dw_mean", "d_weight divided by the number of rows",
        "d_weight was divided by the number of rows: their contributions add up; an average belongs into the "
        "loss.", 3,
        shows="factor",
    ),
    Mistake(
        "no_upstream", "d_out taken as ones",
        "You differentiated the sum of out: d_out is not used. The chain rule multiplies by it.", 1,
        sets="upstream",
    ),
    Mistake(
        "forward_output", "out = x @ weight in place of d_out",
        "You sent the output of the forward pass backwards; what goes back is the upstream gradient, d_out.", 1,
        sets="upstream",
    ),
    Mistake(
        "elementwise", "d_out * weight, d_out * x",
        "You multiplied entry by entry, the rule for numbers; every entry of x reaches a whole row of out.", 2,
        sets="d_x d_weight",
    ),
    Mistake(
        "swapped", "(d_weight, d_x)",
        "The two gradients are returned in each other's place: d_x comes first.", 1,
    ),
    Mistake(
        "dw_last_row", "d_weight = outer(x[-1], d_out[-1])",
        "Only the last row went into d_weight: in a loop over rows, add each row's part to what is there.", 3,
        sets="d_weight",
    ),
    Mistake(
        "dw_sums_first", "d_weight = outer(x.sum(0), d_out.sum(0))",
        "For d_weight the rows were added up before they met: multiply row i of x with row i of d_out, then "
        "add.", 3,
        sets="d_weight",
    ),
)
