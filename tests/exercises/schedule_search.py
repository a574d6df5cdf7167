"""The cheapest schedule by search: nothing of the formulas or of the puzzles' machine is used."""

import heapq
from itertools import count


def cheapest(start, moves, done, still=lambda state: 0):
    """The least cost from `start` to a state of which `done` is true; ``moves(state)`` yields (cost, state).

    ``still(state)`` is what has to be paid in any case from there on (the search is A*; with 0 it is Dijkstra's).
    """
    best, tie = {start: 0}, count()
    queue = [(still(start), next(tie), 0, start)]
    while queue:
        _, _, cost, state = heapq.heappop(queue)
        if done(state):
            return cost
        if cost > best[state]:
            continue
        for more, after in moves(state):
            if cost + more < best.get(after, float("inf")):
                best[after] = cost + more
                heapq.heappush(queue, (cost + more + still(after), next(tie), cost + more, after))
    return None


def least_of_tiles(q, k, bytes_of, budget, causal=False, bound=True):
    """Tiles of Flash attention. A state: the blocks on the chip, and the pairs that have met.

    Work is free and never in the way, so every pair that can meet does. An output leaves the chip by a store; if it is
    not finished it has to come back by a load.
    """
    pairs = frozenset((i, j) for i in range(q) for j in range(k) if j <= i or not causal)
    blocks = [("Q", i) for i in range(q)] + [("K", j) for j in range(k)] + [("O", i) for i in range(q)]
    of_block = {(kind, i): {pair for pair in pairs if pair[kind == "K"] == i} for kind, i in blocks}

    def moves(state):
        held, met = state
        room = budget - sum(bytes_of[kind] for kind, _ in held)
        for block in blocks:
            size = bytes_of[block[0]]
            if block in held:
                yield (size if block[0] == "O" else 0), (held - {block}, met)
            elif size <= room and not of_block[block] <= met:
                new = block[0] == "O" and not of_block[block] & met
                now = held | {block}
                here = {(i, j) for i, j in pairs if {("Q", i), ("K", j), ("O", i)} <= now}
                yield (0 if new else size), (now, met | here)

    def still(state):
        """What is not finished has to come, if it is not there, and each output has to go."""
        held, met = state
        needed = [block for block in blocks if not of_block[block] <= met]
        come = sum(bytes_of[kind] for kind, i in needed if kind != "O" and (kind, i) not in held)
        return come + sum(bytes_of[kind] for kind, i in blocks if kind == "O" and ((kind, i) in needed or (kind, i) in held))

    def done(state):
        return state[1] == pairs and not any(kind == "O" for kind, _ in state[0])

    return cheapest((frozenset(), frozenset()), moves, done, still if bound else lambda state: 0)


def least_of_texts(texts, rounds, prompt, own, budget):
    """Decoding in rounds. A state: the blocks on the chip, the texts served in this round, the rounds that are over."""
    size = dict.fromkeys(texts, own) | {"P": prompt}

    def served(held, texts_served, over):
        yield held, texts_served, over
        if "P" in held:
            for text in set(held) - {"P"} - texts_served:
                now = texts_served | {text}
                yield (held, frozenset(), over + 1) if len(now) == len(texts) else (held, now, over)

    def moves(state):
        held, texts_served, over = state
        for after in served(held, texts_served, over):
            if after != state:
                yield 0, after
        for block in size:
            if block in held:
                yield 0, (held - {block}, texts_served, over)
            elif sum(size[other] for other in held) + size[block] <= budget:
                yield size[block], (held | {block}, texts_served, over)

    return cheapest((frozenset(), frozenset(), 0), moves, lambda state: state[2] == rounds)
