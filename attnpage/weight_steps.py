"""How one weight of attention came about: each step in words, and its numbers as they are read.

A number is written with three decimals, and with fewer where these are all it has: 0.8 is 0.8, 1.273 is rounded. "="
stands between numbers that are all of the first kind, "≈" elsewhere. So no sum that is shown looks wrong unsaid.
"""

from typing import NamedTuple

import numpy as np

from attnlib.attention import attention

#: Decimals of a number that has more.
DECIMALS = 3

# Keeps a name with its number, and both sides of a product, on one line.
SPACE = "\u00a0"


class Part(NamedTuple):
    """A piece of a step: its text, and what it is (a quantity such as "query", or "name", "chosen" or "")."""

    text: str
    kind: str = ""
    is_number: bool = False


class Numbers:
    """How numbers are written in a step; ``tolerance`` says from when on a rounded one counts as exact."""

    def __init__(self, tolerance):
        self._tolerance = tolerance

    def _number(self, number, kind=""):
        return Part(self._text(number), kind, is_number=True)

    def _operand(self, number, kind=""):
        text = self._text(number)
        return Part(f"({text})" if text.startswith("-") else text, kind, is_number=True)

    def _text(self, number):
        number = float(number)
        if number == 0:
            return "0"
        if not 0.5 * 10**-DECIMALS <= abs(number) < 1e6:
            return f"{number:.{DECIMALS - 1}e}"
        text = f"{number:.{DECIMALS}f}"
        return text.rstrip("0").rstrip(".") if self._is_all(text, number) else text

    def _is_all(self, text, number):
        return abs(float(text) - number) <= self._tolerance * abs(number)

    def _equals(self, *numbers):
        return Part(" = " if all(self._is_all(self._text(each), float(each)) for each in numbers) else " ≈ ")


class Weights(Numbers):
    """The weights of one head, and the way to each of them.

    Parameters
    ----------
    inputs : AttentionInputs
        Checked, without leading axes, finite.
    scale_given : bool
        Whether the caller chose the scale; otherwise it is shown as a division by the root of d.
    rows, columns, features : list of str
        The names of the queries, the keys and, if there are any, the features.
    """

    def __init__(self, inputs, scale_given, rows, columns, features):
        self._inputs, self._scale_given = inputs, scale_given
        self._rows, self._columns, self._features = rows, columns, features
        query, key, mask = inputs.query, inputs.key, inputs.mask
        shape = inputs.scores_shape
        with np.errstate(all="ignore"):
            self._products = query[:, np.newaxis] * key
            self.raw = _settled(query @ key.mT, np.abs(self._products).max(axis=-1))
            self.scaled = inputs.scale * self.raw
            self._bias = np.broadcast_to(query.dtype.type(0) if mask is None or mask.dtype == bool else mask, shape)
            allowed = np.broadcast_to(mask if mask is not None and mask.dtype == bool else True, shape)
            self.hidden = ~allowed | np.isneginf(self._bias)
            self._scores = np.where(self.hidden, -np.inf, self.scaled + self._bias)
            self._largest = self._scores.max(axis=-1, keepdims=True)
            size = np.maximum(np.abs(self._scores), np.abs(self._largest))
            self._shifted = np.where(self.hidden, -np.inf, _settled(self._scores - self._largest, size))
            self._exponentials = np.exp(self._shifted)
            self._totals = self._exponentials.sum(axis=-1)
        # What is explained is what the library returns, not what is recomputed here.
        _, self.weights = attention(query, key, key, mask=mask, scale=inputs.scale)
        self.tints = self.weights  # how strongly the table colours each, from 0 to 1
        super().__init__(1e-9 if inputs.dtype == np.float64 else 1e-6)

    def sentence(self, row, column):
        """The whole in one sentence, as parts."""
        weight = self._number(self.weights[row, column], "weights")
        parts = [Part(self._rows[row], "query"), Part(" gives "), Part(self._columns[column], "key")]
        parts += [Part(" the weight "), weight]
        if self.hidden[row].all():
            return [*parts, Part(": the mask leaves it nothing to look at.")]
        if self.hidden[row, column]:
            return [*parts, Part(": the mask hides this key from it.")]
        exponential, total = self._exponentials[row, column], self._totals[row]
        parts += [Part(": an exponential of "), self._number(exponential)]
        return [*parts, Part(" in a row that sums to "), self._number(total), Part(".")]

    def steps(self, row, column):
        """The steps in order: [(what is done, parts)]."""
        steps = [
            ("Query times key, feature by feature", self._product_parts(row, column)),
            ("Scale", self._scale_parts(row, column)),
        ]
        if self._inputs.mask is not None:
            steps.append(("Mask", self._mask_parts(row, column)))
        if self.hidden[row].all():
            said = "every key is hidden, so all exponentials are 0, and so is their sum; the weight is set to 0"
            return [*steps, ("The row", [Part(said)])]
        shifted, exponential = self._shifted[row, column], self._exponentials[row, column]
        if self.hidden[row, column]:
            steps.append(("Exponential", [Part("exp(−∞) = "), self._number(exponential)]))
        else:
            score, largest = self._scores[row, column], self._largest[row, 0]
            same = Part(" = ") if shifted == 0 else self._equals(score, largest, shifted)
            difference = [self._number(score, "scores"), Part(" − "), self._operand(largest, "scores")]
            steps.append(("Minus the row’s largest score μ", [*difference, same, self._number(shifted)]))
            parts = [Part("exp("), self._number(shifted), Part(") = " if shifted == 0 else ") ≈ ")]
            parts.append(self._number(exponential))
            if exponential == 0:
                parts.append(Part(f", too small for {exponential.dtype}"))
            steps.append(("Exponential", parts))
        terms = [
            [Part(f"{name}{SPACE}", "name"), self._number(term, "chosen" if place == column else "")]
            for place, (term, name) in enumerate(zip(self._exponentials[row], self._columns, strict=True))
        ]
        total = self._totals[row]
        equals = self._equals(*self._exponentials[row], total)
        steps.append(("Sum of the row’s exponentials", [*joined(terms, " + "), equals, self._number(total)]))
        weight = self.weights[row, column]
        shares = [self._number(exponential), Part(" ÷ "), self._number(total)]
        equals = Part(" = ") if self.hidden[row, column] else self._equals(exponential, total, weight)
        shares += [equals, self._number(weight, "weights")]
        return [*steps, ("Weight", shares)]

    def _product_parts(self, row, column):
        query, key, products = self._inputs.query[row], self._inputs.key[column], self._products[row, column]
        pairs = []
        for feature, (a, b) in enumerate(zip(query, key, strict=True)):
            named = [Part(f"{self._features[feature]}{SPACE}", "name")] if self._features else []
            first = self._number(a, "query") if feature == 0 else self._operand(a, "query")
            pairs.append([*named, first, Part(f"{SPACE}×{SPACE}"), self._operand(b, "key")])
        parts = joined(pairs, " + ")
        if len(products) > 1:
            terms = [[self._number(products[0])], *([self._operand(product)] for product in products[1:])]
            parts += [self._equals(*query, *key, *products), *joined(terms, " + ")]
        raw = self.raw[row, column]
        everything = (*products, raw) if len(products) > 1 else (*query, *key, raw)
        return [*parts, self._equals(*everything), self._number(raw)]

    def _scale_parts(self, row, column):
        raw, scaled = self.raw[row, column], self.scaled[row, column]
        if self._scale_given:
            scale = self._inputs.scale
            parts = [self._number(raw), Part(" × "), self._operand(scale), self._equals(raw, scale, scaled)]
        else:
            features = self._inputs.query.shape[-1]
            parts = [self._number(raw), Part(f" ÷ √{features}"), self._equals(raw, np.sqrt(features), scaled)]
            if raw == 0:
                parts[-1] = self._equals(raw, scaled)
        return [*parts, self._number(scaled, "scores")]

    def _mask_parts(self, row, column):
        if self.hidden[row, column]:
            return [Part("hidden: the score counts as −∞")]
        if self._inputs.mask.dtype == bool:
            return [Part("may look: the score stays")]
        scaled, bias, score = self.scaled[row, column], self._bias[row, column], self._scores[row, column]
        parts = [self._number(scaled), Part(" + "), self._operand(bias), self._equals(scaled, bias, score)]
        return [*parts, self._number(score, "scores")]


def _settled(total, size):
    """Sums in which everything cancels but rounding, as the zero that they are on paper."""
    noise = np.minimum(64 * np.finfo(total.dtype).eps * size, 1e-6)
    return np.where(np.abs(total) <= noise, total.dtype.type(0), total)


def joined(groups, between):
    """All parts of the groups, with a text between one group and the next."""
    parts = list(groups[0])
    for group in groups[1:]:
        parts += [Part(between), *group]
    return parts
