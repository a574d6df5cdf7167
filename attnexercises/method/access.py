"""Find out in which order, and how many at once, a function uses the numbers of its arguments.

For a function of a row of scores, such as a streaming softmax, `reads` returns the places of the row that each step
uses. `most_read_at_once` and `goes_back` examine the result of `reads`.

For attention in tiles, the other functions examine the record of an observed call (`trace.Book`): which arrays it made
for all pairs of queries and keys, how many keys it used at once, and in which order.
"""

import math

from attnexercises.method.memory import HELD, bytes_for_each_pair
from attnexercises.method.trace import watched


def reads(function, row, *rest):
    """Return for each step of ``function(row, *rest)`` the set of places of the row with whose numbers it computes.

    Indexing, copying and reordering are no computation.

    Parameters
    ----------
    function : callable
    row : ndarray
        An array with one axis and no two equal numbers.
    *rest
        The other arguments.

    Examples
    --------
    >>> import numpy as np
    >>> [sorted(places) for places in reads(lambda x: x[:2].max() + x.tolist()[2], np.array([1.0, 2.0, 3.0]))]
    [[0, 1], [2]]
    """
    book = watched(function, {"row": row} | dict(enumerate(rest)), ("row",))
    return [step.rows["row"] for step in book.steps]


def most_read_at_once(log, row, block):
    """Return the largest number of places that one step uses; a maximum carried over from earlier does not count.

    Examples
    --------
    >>> row = [9, 1, 8, 2, 7, 3]
    >>> most_read_at_once([{0, 2, 3}], row, 2), most_read_at_once([{0, 1, 2}], row, 2)
    (2, 3)
    """
    return max((len(places - _carried_into(places, row, block)) for places in log if places), default=0)


def _carried_into(places, row, block):
    """The first place, as a set, if it holds the maximum of all before the others, and these begin with a block."""
    first, *others = sorted(places)
    begins_a_block = others and others[0] % block == 0
    return {first} if begins_a_block and row[first] == max(row[: others[0]]) else set()


def goes_back(log, row, block):
    """Is a number used again after a block of other numbers?

    The largest number so far, and the largest of each block, may be used again, because a running maximum carries them.

    Examples
    --------
    >>> row = [9, 1, 8, 2, 7, 3]
    >>> goes_back([{0, 1}, {0, 1}, {2, 3}, {0, 3}, {4}, {5}], row, 2), goes_back([{0, 1}, {2, 3}, {4, 5}, {0, 1}], row, 2)
    (False, True)
    """
    starts = range(0, len(row), block)
    carried = {max(range(i, min(i + block, len(row))), key=row.__getitem__) for i in starts}
    carried |= {i for i in range(len(row)) if row[i] == max(row[: i + 1])}
    last = {}
    for number, places in enumerate(log):
        for place in places - carried:
            if place in last and sum(later > last[place] for later in last.values()) >= block:
                return True
        last.update(dict.fromkeys(places - carried, number))
    return False


#: What a call can hold at once for all pairs, in words.
HELD_AT_ONCE = {
    "scores": "all {pairs} scores are",
    "array": "an array of {q} × {k} is",
    "mask": "a whole mask of {q} × {k} is",
    "indices": "indices for all {q} × {k} pairs are",
    "queries": "a product of {q} × {q}, of all queries with all queries is",
    "keys": "a product of {k} × {k}, of all keys with all keys is",
    "numbers": "numbers for all q × k pairs are",
}


def held_at_once(answer, books, many, q, k):
    """Name what an answer holds at once for all pairs of q queries and k keys, as in `HELD_AT_ONCE`, or return "".

    Parameters
    ----------
    answer : callable
    books : list of Book
        The records of its calls with q queries and k keys.
    many : callable
        ``many(q, k)`` returns arguments with so many queries and keys, to measure the memory of a call.
    q, k : int
    """
    made = made_for_all(books, q, k)
    if made:
        return made
    # What the measurement misses of Python's own lists can look like a number for each of 16 × 64 pairs, but not of four
    # times as many. So nothing is said before both have been measured.
    held = all(bytes_for_each_pair(answer, many, *sizes) > HELD for sizes in ((16, 64), (32, 128)))
    return "numbers" if held else ""


def made_for_all(books, q, k):
    """Name the array that was made for all pairs of q queries and k keys, or return "". All axes must differ in size.

    Examples
    --------
    >>> from attnexercises.method.trace import Book
    >>> made_for_all([Book(made=[((5, 3), "f"), ((5, 24), "b")])], 5, 24)
    'mask'
    """
    made = [entry for book in books for entry in book.made]
    pairs = {kind for shape, kind in made if _covers(shape, q, k)}
    if "f" in pairs:
        products = [step for book in books for step in book.steps if {"query", "key"} <= set(step.rows)]
        return "scores" if any(_covers(step.made[0], q, k) for step in products) else "array"
    if pairs:
        return "mask" if "b" in pairs else "indices"
    squares = [name for size, name in ((q, "queries"), (k, "keys")) if any(list(shape).count(size) > 1 for shape, _ in made)]
    return squares[0] if squares else ""


def _covers(shape, q, k):
    """Does an array of this shape have an element for each pair? (q, k), (k, q) and (blocks, q, block) do."""
    sizes = list(shape)
    if q not in sizes:
        return False
    sizes.remove(q)
    return k in sizes or math.prod(sizes) == k


def most_at_once(book, names):
    """Return the largest number of rows of one of the named arguments that a single product uses."""
    return max((len(step.meets(name)) for step in book.steps for name in names), default=0)


def meets_again(book, block):
    """Is a query multiplied by a key again after it was multiplied by more than a block of other keys?"""
    visits = {}  # from a query to a dict from each key to the number of the last step in which both met
    for number, (queries, keys) in enumerate(_meetings(book)):
        for query in queries:
            before = visits.setdefault(query, {})
            for key in keys:
                since = sum(last > before[key] for last in before.values()) if key in before else 0
                if since > block:
                    return True
            before.update(dict.fromkeys(keys, number))
    return False


def most_waiting(book, used):
    """Return the largest number of keys that were waiting at once: multiplied by a query, but not used up yet.

    Parameters
    ----------
    book : Book
    used : callable
        ``used(step)`` returns the keys that a step uses up; None means all of them.
    """
    waiting, most = set(), 0
    for step in book.steps:
        done = used(step)
        if done is None:
            waiting.clear()
        else:
            waiting -= done
        if step.meets("key") and "query" in step.rows:
            waiting |= step.meets("key")
            most = max(most, len(waiting))
    return most


def _meetings(book):
    """Yield for each step that multiplies queries by keys the rows of both."""
    for step in book.steps:
        if step.meets("key") and "query" in step.rows:
            yield step.rows["query"], step.rows["key"]
