"""Is what is said of a schedule, or of an input, true? The schedule is read anew, line by line; the functions are run."""

import re

import numpy as np

from attnexercises.puzzles import CAUSAL, FLASH, TEXTS, WINDOW, suspects
from attnexercises.puzzles.exposed import SCORES, VALUES
from attnlib.attention import attention
from attnlib.softmax import softmax

PUZZLES = {"flash_schedule": FLASH, "causal_schedule": CAUSAL, "window_cache": WINDOW, "text_cache": TEXTS}
CLAIMS = []


def holds(exercise, answer, text):
    """Is the sentence true of this answer? A sentence that nothing here measures counts as false."""
    if exercise.id in PUZZLES:
        return _holds_of_schedule(PUZZLES[exercise.id], answer, text)
    return _holds_of_input(exercise.id, answer, text)


def claim(pattern):
    def add(function):
        CLAIMS.append((re.compile(pattern), function))
        return function

    return add


def _holds_of_schedule(puzzle, answer, text):
    steps = [line.split() for line in (answer.split(";") if isinstance(answer, str) else answer)]
    found = re.fullmatch(r"step (\d+), ([\w, ]+): (.*)", text)
    before, text = (steps[: int(found[1]) - 1], found[3]) if found else (steps, text)
    if found and " ".join(steps[int(found[1]) - 1]) != found[2]:
        return False
    for pattern, measure in CLAIMS:
        m = pattern.fullmatch(text)
        if m and bool(found) != text.startswith(("at the end", "it works")):
            return bool(measure(puzzle, before, m))
    return False


def held(puzzle, steps):
    """What lies on the chip: loaded or come about, and not dropped since."""
    there = set()
    for verb, *names in steps:
        new = {"drop": (), "compute": [f"O{names[0][1:]}"], "token": [f"C{names[0]}"] if puzzle is WINDOW else ()}.get(verb, names)
        there = there - set(names) if verb == "drop" else there | set(new)
    return there


def stored(steps, name):
    """Is the latest state of an output or a cached block in slow memory?"""
    changes = [i for i, (verb, *names) in enumerate(steps) if verb in ("compute", "token") and names[0] == name[1:] or
               verb == "compute" and names[0][1:] == name[1:]]  # fmt: skip
    stores = [i for i, step in enumerate(steps) if step == ["store", name]]
    return bool(stores) and (not changes or stores[-1] > changes[-1])


@claim(r"(\w+) is not on the chip")
def absent(puzzle, steps, m):
    return m[1] not in held(puzzle, steps) and (m[1] in puzzle.in_slow or stored(steps, m[1]))


@claim(r"(\w+) was dropped, and slow memory does not have it")
def gone(puzzle, steps, m):
    return ["drop", m[1]] in steps and m[1] not in held(puzzle, steps) and ["store", m[1]] not in steps


@claim(r"with (\w+) the chip holds (\d+) bytes; the budget is (\d+)")
def over(puzzle, steps, m):
    there = held(puzzle, steps)
    total = sum(puzzle.sizes[name] for name in there) + puzzle.sizes[m[1]]
    return m[1] not in there and (total, puzzle.budget) == (int(m[2]), int(m[3])) and total > puzzle.budget


@claim(r"slow memory has this (\w+) already")
def saved(puzzle, steps, m):
    return m[1] in held(puzzle, steps) and (m[1] in puzzle.in_slow or stored(steps, m[1]))


@claim(r"(O\d) has changed and is stored nowhere: its sums would be lost")
def lost(puzzle, steps, m):
    return m[1] in held(puzzle, steps) and not stored(steps, m[1])


@claim(r"(O\d) lies in slow memory: without it earlier keys are forgotten")
def forgotten(puzzle, steps, m):
    return m[1] not in held(puzzle, steps) and stored(steps, m[1])


@claim(r"every key of K(\d) comes after every query of Q(\d): the mask hides them all")
def hidden(puzzle, steps, m):
    return puzzle is CAUSAL and int(m[1]) > int(m[2])


@claim(r"at the end (Q\d) has not met (K\d)")
def unmet(puzzle, steps, m):
    return ["compute", m[1], m[2]] not in steps


@claim(r"at the end slow memory does not have (O\d)")
def unstored(puzzle, steps, m):
    return not stored(steps, m[1])


@claim(r"at the end token (\d) is not decoded")
def undecoded(puzzle, steps, m):
    return ["token", m[1]] not in steps


@claim(r"at the end text ([ABC]) has (\d) of (\d) tokens")
def few(puzzle, steps, m):
    return steps.count(["token", m[1]]) == int(m[2]) < int(m[3]) == 3


@claim(r"tokens come one after the other; the next is token (\d)")
def order(puzzle, steps, m):
    return sum(step[0] == "token" for step in steps) == int(m[1])


@claim(r"text ([ABC]) still waits for its token (\d)")
def waits(puzzle, steps, m):
    return steps.count(["token", m[1]]) == int(m[2])


@claim(r"the chip knows load, store, drop and (\w+), not `(\w+)`")
def unknown(puzzle, steps, m):
    return m[1] == puzzle.verb and m[2] not in ("load", "store", "drop", m[1])


@claim(r"slow memory does not have (\w+)")
def not_there(puzzle, steps, m):
    return m[1] not in puzzle.in_slow and not stored(steps, m[1])


@claim(r"`compute` takes a tile of queries and a tile of keys, such as Q0 K1")
def two_tiles(puzzle, steps, m):
    """The step itself is compared before; here: it is a puzzle in which tiles are computed."""
    return puzzle.verb == "compute"


@claim(r"it works and moves (\d+) bytes; (\d+) are enough\. Blocks loaded: ((?:[A-Z] \d+(?:, )?)+)")
def moves(puzzle, steps, m):
    moved = sum(puzzle.sizes[name] for verb, name, *_ in steps if verb in ("load", "store"))
    loads = {}
    for _verb, name, *_ in (step for step in steps if step[0] == "load"):
        loads[name[0]] = loads.get(name[0], 0) + 1
    said = {part.split()[0]: int(part.split()[1]) for part in m[3].split(", ")}
    return (moved, puzzle.least) == (int(m[1]), int(m[2])) and moved > puzzle.least and said == loads


# --- inputs -----------------------------------------------------------------------------------------


def _holds_of_input(id, answer, text):
    if text.startswith("your input is not valid: "):
        return _invalid(id, answer, text.partition(": ")[2])
    if id == "expose_shift":
        x = np.array(answer, dtype=float)
        same = np.allclose(suspects.mean_shift_softmax(x), softmax(x), rtol=1e-9)
        return same and text == f"both give the same on your input. The largest number lies {x.max() - x.mean():.4g} above the mean"
    if id == "expose_fill":
        scores, mask = (np.array(part) for part in answer)
        wrong = suspects.filled_softmax(scores, mask)
        if text == "both give the same on your input":
            return np.allclose(wrong, softmax(scores))
        return text == f"the hidden keys get {wrong[~mask].sum():.2g} of the weight; more than half is asked for"
    if id == "expose_skip":
        mask = np.array([answer])
        right = attention(np.ones((1, 1)), SCORES[:, None], VALUES[:, None], mask=mask, scale=1.0)[0].item()
        wrong = suspects.hasty_attention(SCORES, mask[0], VALUES)
        return np.isclose(wrong, right) and text == f"both give {right:.4f} on your input"
    q, k = answer
    if id == "expose_causal":
        same = np.array_equal(suspects.corner_mask(q, k), [[j <= i + k - q for j in range(k)] for i in range(q)])
    else:
        same = np.array_equal(suspects.tiled_heads(q, k), [head // (q // k) for head in range(q)])
    return same and text == "both give the same on your input"


def _invalid(id, answer, why):
    if answer == "dropout":  # a word for numbers
        return why.endswith("expected") or ", " in why and "expected" in why
    return {
        "one of its numbers is not finite": lambda: not np.isfinite(answer).all(),
        "at least one key is to be visible": lambda: not any(answer[1]),
        "it has more queries than keys": lambda: answer[0] > answer[1],
        "a list of 2 to 8 numbers is expected": lambda: not 2 <= len(answer) <= 8,
        "two whole numbers from 1 to 8 are expected, q and k": lambda: len(answer) != 2 or not all(1 <= n <= 8 for n in answer),
        "six times True or False are expected": lambda: len(answer) != 6,
        f"{answer[-1]} does not divide {answer[0]}": lambda: answer[0] % answer[-1] != 0,
    }.get(why, bool)()
