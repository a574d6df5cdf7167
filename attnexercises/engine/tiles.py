"""Attention in tiles: what a watched call made for all queries and keys, how many keys it looked at at once, and in which order."""


def made_for_all(books, q, k):
    """What was made for all pairs of q queries and k keys, in words; "" if nothing. The sizes of all axes have to differ.

    Examples
    --------
    >>> from attnexercises.engine.watch import Book
    >>> made_for_all([Book(made=[((5, 3), "f"), ((5, 24), "b")])], 5, 24)
    'a whole mask of 5 × 24'
    """
    made = [entry for book in books for entry in book.made]
    pairs = [kind for shape, kind in made if _covers(shape, q, k)]
    if "f" in pairs:
        products = [step for book in books for step in book.steps if {"query", "key"} <= set(step.rows)]
        scores = any(_covers(step.made[0], q, k) for step in products)
        return f"all {q * k} scores" if scores else f"an array of {q} × {k}"
    if "b" in pairs:
        return f"a whole mask of {q} × {k}"
    if pairs:
        return f"indices for all {q} × {k} pairs"
    for size, name in ((q, "queries"), (k, "keys")):
        if any(list(shape).count(size) > 1 for shape, _ in made):
            return f"a product of {size} × {size}, of all {name} with all {name}"
    return ""


def _covers(shape, q, k):
    """Does it have a place for each pair? In whatever shape: (q, k), (k, q), (blocks, q, block)."""
    sizes = list(shape)
    if q not in sizes:
        return False
    sizes.remove(q)
    rest = 1
    for size in sizes:
        rest *= size
    return k in sizes or rest == k


def most_at_once(book, names):
    """The most rows of any of the named arguments that one product looks at."""
    return max((len(step.meets(name)) for step in book.steps for name in names), default=0)


def meets_again(book, block):
    """Does a query meet a key again after more than a block of other keys?"""
    visits = {}  # query to {key: number of its last visit}
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
    """The most keys that have met a query and wait: what they are for has not been done yet.

    Parameters
    ----------
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
    for step in book.steps:
        if step.meets("key") and "query" in step.rows:
            yield step.rows["query"], step.rows["key"]
