"""Wrong answers to the exercises on training, as readers may write them."""

import numpy as np

from . import wrong


@wrong("cross_entropy_backward", "the mean over everything", named=("all_positions",))
def mean_over_everything(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets]
    return (weights - right) * keep[..., None] / targets.size


@wrong("cross_entropy_backward", "a sum, not a mean", named=("sum",))
def summed(weights, targets, keep):
    d_logits = weights.copy()
    for b in range(len(weights)):
        for n in range(weights.shape[1]):
            d_logits[b, n, targets[b, n]] -= 1
            if not keep[b, n]:
                d_logits[b, n] = 0
    return d_logits


@wrong("cross_entropy_backward", "truth minus guess", named=("sign",))
def truth_minus_guess(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets]
    return (right - weights) * keep[..., None] / keep.sum()


@wrong("cross_entropy_backward", "keep forgotten", named=("no_keep",))
def keep_forgotten(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets]
    return (weights - right) / keep.sum()


@wrong("cross_entropy_backward", "keep forgotten, mean over all", named=("no_keep", "all_positions"))
def keep_ignored(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets]
    return (weights - right) / keep.size


@wrong("cross_entropy_backward", "-1/p at the target", named=("weights_slope",))
def slope_in_the_weights(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets]
    return -right / weights * keep[..., None] / keep.sum()


@wrong("cross_entropy_backward", "only the kept rows are returned", says=r"\(7, 3\)|shape")
def kept_rows(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets]
    return ((weights - right) / keep.sum())[keep]


@wrong("cross_entropy_backward", "keep without its new axis", says=r"broadcast|shape|operands")
def no_new_axis(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets]
    return (weights - right) * keep / keep.sum()


@wrong("cross_entropy_backward", "the identity indexed by kept targets only", says=r"broadcast|shape|operands")
def only_kept_targets(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets[keep]]
    return (weights - right) / keep.sum()


@wrong("cross_entropy_backward", "the loss, not its slope", says=r"differ|cases|shape")
def the_loss(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets]
    return -np.log(weights) * right * keep[..., None] / keep.sum()


@wrong("adam_direction", "no correction", named=("no_bias",))
def not_corrected(gradients, beta1, beta2, epsilon):
    mean = square = np.zeros(gradients.shape[1])
    for g in gradients:
        mean = beta1 * mean + (1 - beta1) * g
        square = beta2 * square + (1 - beta2) * g * g
    return mean / (np.sqrt(square) + epsilon)


@wrong("adam_direction", "corrected inside the loop", named=("in_the_loop",))
def corrected_inside(gradients, beta1, beta2, epsilon):
    mean = square = np.zeros(gradients.shape[1])
    for t, g in enumerate(gradients, start=1):
        mean = (beta1 * mean + (1 - beta1) * g) / (1 - beta1**t)
        square = (beta2 * square + (1 - beta2) * g * g) / (1 - beta2**t)
    return mean / (np.sqrt(square) + epsilon)


@wrong("adam_direction", "steps counted from zero", named=("early",))
def from_zero(gradients, beta1, beta2, epsilon):
    mean = square = np.zeros(gradients.shape[1])
    with np.errstate(all="ignore"):
        for t, g in enumerate(gradients):
            mean = beta1 * mean + (1 - beta1) * g
            square = beta2 * square + (1 - beta2) * g * g
        return mean / (1 - beta1**t) / (np.sqrt(square / (1 - beta2**t)) + epsilon)


@wrong("adam_direction", "one beta for both", named=("one_beta",), says=r"differ|cases")
def one_beta(gradients, beta1, beta2, epsilon):
    mean = square = np.zeros(gradients.shape[1])
    for g in gradients:
        mean = beta1 * mean + (1 - beta1) * g
        square = beta1 * square + (1 - beta1) * g * g
    t = len(gradients)
    return mean / (1 - beta1**t) / (np.sqrt(square / (1 - beta1**t)) + epsilon)


@wrong("adam_direction", "plain mean of the gradients", named=("plain",))
def plain_means(gradients, beta1, beta2, epsilon):
    return gradients.mean(axis=0) / (np.sqrt((gradients**2).mean(axis=0)) + epsilon)


@wrong("adam_direction", "the square of the mean", named=("square_of_mean",))
def square_of_the_mean(gradients, beta1, beta2, epsilon):
    mean = square = np.zeros(gradients.shape[1])
    for g in gradients:
        mean = beta1 * mean + (1 - beta1) * g
        square = beta2 * square + (1 - beta2) * mean**2
    t = len(gradients)
    return mean / (1 - beta1**t) / (np.sqrt(square / (1 - beta2**t)) + epsilon)


@wrong("adam_direction", "directions of all steps", says=r"shape|\(4, 3\)")
def all_steps(gradients, beta1, beta2, epsilon):
    mean = square = np.zeros(gradients.shape[1])
    out = []
    for t, g in enumerate(gradients, start=1):
        mean = beta1 * mean + (1 - beta1) * g
        square = beta2 * square + (1 - beta2) * g * g
        out.append(mean / (1 - beta1**t) / (np.sqrt(square / (1 - beta2**t)) + epsilon))
    return np.array(out)


@wrong("adam_direction", "epsilon under the root", named=("epsilon_inside",))
def under_the_root(gradients, beta1, beta2, epsilon):
    mean = square = np.zeros(gradients.shape[1])
    for g in gradients:
        mean = beta1 * mean + (1 - beta1) * g
        square = beta2 * square + (1 - beta2) * g * g
    t = len(gradients)
    return mean / (1 - beta1**t) / np.sqrt(square / (1 - beta2**t) + epsilon)


wrong("taken_out", "the score of the head itself", named=("its_own",))("induction")
wrong("taken_out", "the score below", named=("before_it",))("previous")
wrong("taken_out", "the layer instead of the score", says=r"layer 2")("layer 2")
wrong("taken_out", "a number", says=r"word")(0)
wrong("spot_training", "overfitting", says=r"overfitting")("overfitting")
wrong("spot_training", "targets not shifted", named=("not_shifted",))("not shifted")
wrong("spot_training", "rate too high", named=("rate",))("Rate too high")


# --- induction_score -------------------------------------------------------------------------------


@wrong("induction_score", "the copies themselves", named=("itself",))
def looks_at_copies(weights, tokens):
    n = tokens.shape[1]
    same = tokens[:, :, None] == tokens[:, None, :]
    earlier = np.arange(n)[:, None] > np.arange(n)
    copies = same & earlier
    return (weights * copies).sum(-1)[copies.any(-1)].mean()


@wrong("induction_score", "nothing keeps the query itself out, so every query counts", named=("new_counted",))
def itself_is_a_copy(weights, tokens):
    same = tokens[:, :, None] == tokens[:, None, :]
    after = np.zeros_like(same)
    after[:, :, 1:] = same[:, :, :-1]
    return (weights * after).sum(-1)[same.any(-1)].mean()


@wrong("induction_score", "the score of each query, without the mean", says=r"shape")
def each_query(weights, tokens):
    same = tokens[:, :, None] == tokens[:, None, :]
    copies = np.tril(same, -1)
    return (weights * np.roll(copies, 1, axis=-1)).sum(-1)


@wrong("induction_score", "a score for each text", says=r"shape")
def each_text(weights, tokens):
    copies = np.tril(tokens[:, :, None] == tokens[:, None, :], -1)
    found = (weights * np.roll(copies, 1, axis=-1)).sum((1, 2))
    return found / np.maximum(copies.any(-1).sum(-1), 1)


@wrong("induction_score", "index finds the first copy", named=("first",))
def with_index(weights, tokens):
    found = []
    for row, text in zip(weights, tokens.tolist()):
        for q, token in enumerate(text):
            k = text.index(token)
            if k < q:
                found.append(row[q, k + 1])
    return np.mean(found)


@wrong("induction_score", "loops from the right and stops at the latest copy", named=("latest",))
def stops_at_the_latest(weights, tokens):
    found = []
    for row, text in zip(weights, tokens):
        for q in range(len(text)):
            for k in range(q - 1, -1, -1):
                if text[k] == text[q]:
                    found.append(row[q, k + 1])
                    break
    return np.mean(found)


@wrong("induction_score", "a mean of texts", named=("mean_of_texts",))
def mean_of_means(weights, tokens):
    scores = []
    for row, text in zip(weights, tokens):
        copies = np.tril(text[:, None] == text, -1)
        if copies.any():
            scores.append((row * np.roll(copies, 1, axis=-1)).sum(-1)[copies.any(-1)].mean())
    return np.mean(scores)


@wrong("induction_score", "the first text alone", says=r"differ|cases|case")
def first_text(weights, tokens):
    copies = np.tril(tokens[0][:, None] == tokens[0], -1)
    return (weights[0] * np.roll(copies, 1, axis=-1)).sum(-1)[copies.any(-1)].mean()


@wrong("induction_score", "weights with queries and keys exchanged", named=("transposed",))
def columns_as_queries(weights, tokens):
    copies = np.tril(tokens[:, :, None] == tokens[:, None, :], -1)
    after = np.roll(copies, 1, axis=-1)
    return np.einsum("bkq,bqk->", weights, after) / copies.any(-1).sum()


@wrong("induction_score", "each pair counts, not each query")
def pairs(weights, tokens):
    copies = np.tril(tokens[:, :, None] == tokens[:, None, :], -1)
    return weights[np.roll(copies, 1, axis=-1)].mean()


@wrong("induction_score", "how many queries look there most", named=("hits",))
def looks_there_most(weights, tokens):
    copies = np.tril(tokens[:, :, None] == tokens[:, None, :], -1)
    after = np.roll(copies, 1, axis=-1)
    top = weights.argmax(-1)
    hit = np.take_along_axis(after, top[..., None], -1)[..., 0]
    return hit[copies.any(-1)].mean()
