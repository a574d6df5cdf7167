"""The schedules of Flash attention: tiles of queries, keys with their values, unfinished outputs, under a budget."""

from dataclasses import dataclass

from attnexercises.engine.model import Mistake, judged_exercise
from attnexercises.puzzles.machine import Broken, Puzzle, by_kind

# float32, 4 tokens a tile, d = v = 4: queries; keys with their values; outputs with a logsumexp for each query.
BYTES = {"Q": 4 * 4 * 4, "K": 4 * 4 * (4 + 4), "O": 4 * 4 * (4 + 1)}


@dataclass(frozen=True)
class Tiles(Puzzle):
    """``compute Q1 K0`` lets the queries of tile 1 take in the keys of tile 0; the sums are in O1."""

    q: int = 0
    k: int = 0
    causal: bool = False

    def pairs(self):
        """All pairs of tiles that have to meet."""
        return [(f"Q{i}", f"K{j}") for i in range(self.q) for j in range(self.k) if j <= i or not self.causal]

    def work(self, names, done):
        """Both tiles have to be there; the output of the queries changes."""
        query, key = names if len(names) == 2 else ("", "")
        if query[:1] != "Q" or key[:1] != "K" or not {query, key} <= set(self.sizes):
            raise Broken("unreadable", "`compute` takes a tile of queries and a tile of keys, such as Q0 K1.")
        if (query, key) not in self.pairs():
            raise Broken("hidden", f"every key of {key} comes after every query of {query}: the mask hides them all.")
        if (query, key) in done:
            raise Broken("again", f"{query} has met {key} before: the keys would count twice.")
        return (query, key), query.replace("Q", "O")

    def missing(self, done):
        """The first pair that has not met."""
        return next((f"{query} has not met {key}" for query, key in self.pairs() if (query, key) not in done), "")

    def wasteful(self, run):
        """By how often each kind of block was loaded."""
        loads = by_kind(run.loads)
        if loads["O"]:
            return "outputs_pass"
        if loads["Q"] > self.q:
            return "queries_again"
        if loads["K"] == len(self.pairs()):
            return "keys_each_time"
        return "wasteful"


def tiles(q, k, budget, least, causal=False):
    """The puzzle of q tiles of queries and k tiles of keys."""
    sizes = {f"{kind}{i}": BYTES[kind] for kind, count in (("Q", q), ("K", k), ("O", q)) for i in range(count)}
    inputs = tuple(name for name in sizes if name[0] != "O")
    return Tiles(sizes, budget, least, inputs, tuple(f"O{i}" for i in range(q)), q, k, causal)


def bytes_of(queries, keys, outputs_loaded=0, outputs_stored=0):
    """Bytes of so many loads and stores."""
    return queries * BYTES["Q"] + keys * BYTES["K"] + (outputs_loaded + outputs_stored) * BYTES["O"]


def least_one_by_one(q, k):
    """With room for one tile of each kind: one kind stays, and each turn of the other begins with what is there."""
    turns = q * k - (k - 1)  # of queries with their outputs, if the keys stay
    return min(bytes_of(q, q * k - (q - 1), 0, q), bytes_of(turns, k, turns - q, turns))


FLASH = tiles(3, 3, 320, least_one_by_one(3, 3))
# Two tiles of queries fit: {0, 1} need two tiles of keys, {2, 3} all four, one of which can stay from before.
CAUSAL = tiles(4, 4, 448, bytes_of(4, 2 + 4 - 1, 0, 4), causal=True)


def _flash_schedule():
    steps, there = [], ""
    for i in range(3):
        steps += [f"load Q{i}"]
        for j in [0, 1, 2] if i % 2 == 0 else [2, 1, 0]:  # there and back again
            if there != f"K{j}":
                steps += [f"drop {there}"] * (there != "") + [f"load K{j}"]
            there = f"K{j}"
            steps += [f"compute Q{i} K{j}"]
        steps += [f"store O{i}", f"drop O{i}", f"drop Q{i}"]
    return steps


def _causal_schedule():
    steps, there = [], ""
    for pair, keys in (((0, 1), (0, 1)), ((2, 3), (1, 0, 2, 3))):
        steps += [f"load Q{i}" for i in pair]
        for j in keys:
            if there != f"K{j}":
                steps += [f"drop {there}"] * (there != "") + [f"load K{j}"]
            there = f"K{j}"
            steps += [f"compute Q{i} K{j}" for i in pair if j <= i]
        steps += [f"{verb} O{i}" for i in pair for verb in ("store", "drop")] + [f"drop Q{i}" for i in pair]
    return steps


def one_pair_a_time(pairs):
    """Everything is loaded for its pair and dropped after it; an output that was begun comes back."""
    begun, steps = set(), []
    for i, j in pairs:
        steps += [f"load Q{i}", f"load K{j}"] + [f"load O{i}"] * (i in begun)
        steps += [f"compute Q{i} K{j}", f"store O{i}", f"drop O{i}", f"drop Q{i}", f"drop K{j}"]
        begun.add(i)
    return steps


def queries_stay(groups, causal=False, keys=3, again=False):
    """A group of query tiles stays, and all its keys pass, from tile 0 on. With `again`, each key loads the queries anew."""
    steps = []
    for group in groups:
        steps += [] if again else [f"load Q{i}" for i in group]
        for j in range(max(group) + 1 if causal else keys):
            steps += [f"load K{j}"]
            for i in group:
                if j <= i or not causal:
                    steps += [f"load Q{i}", f"compute Q{i} K{j}", f"drop Q{i}"] if again else [f"compute Q{i} K{j}"]
            steps += [f"drop K{j}"]
        steps += [f"{verb} O{i}" for i in group for verb in ("store", "drop")]
        steps += [] if again else [f"drop Q{i}" for i in group]
    return steps


def _without(steps, *left_out):
    return [step for step in steps if not step.startswith(left_out)]


def _faults(right, straight, pairs, causal=False):
    """Wrong schedules, by what they do."""
    return (
        Mistake("over", lambda: _without(right(), "drop"), "A block lies on the chip until it is dropped.", 1),
        Mistake("absent", lambda: [step for step in right() if step != "load K1"],
            "What is computed with has to lie on the chip, both tiles at once.", 1),
        Mistake("lost", lambda: _without(right(), "store"),
            "An output comes about on the chip; slow memory gets it by `store` alone.", 1),
        Mistake("forgotten", lambda: _without(one_pair_a_time(pairs), "load O"),
            "What is unfinished has to come back before it goes on.", 1),
        Mistake("unfinished", lambda: [step for step in straight() if step != "compute Q2 K1"],
            "Each query has to meet every key that it may look at.", 1),
        Mistake("unstored", lambda: _without(straight(), *(f"{verb} O{pairs[-1][0]}" for verb in ("store", "drop"))),
            "The results belong into slow memory.", 1),
        Mistake("outputs_pass", lambda: one_pair_a_time(pairs),
            "Unfinished outputs go out and come in again: which kind of tile could stay until it is finished?", 2),
        Mistake("queries_again", lambda: queries_stay([(i,) for i in range(pairs[-1][0] + 1)], causal=causal, again=True),
            "A tile of queries can stay while its keys pass.", 2),
        Mistake("keys_each_time", straight, "There is a load of keys for each pair of tiles: could one load serve two pairs?", 3),
    )  # fmt: skip


_SQUARE = [(i, j) for i in range(3) for j in range(3)]
_TRIANGLE = [(i, j) for i in range(4) for j in range(i + 1)]

_FLASH = judged_exercise(
    judge=lambda schedule: FLASH.run(schedule)[-2:], answer=_flash_schedule,
    mistakes=_faults(_flash_schedule, lambda: queries_stay([(0,), (1,), (2,)]), _SQUARE),
    title="Nine pairs under a budget", level="medium", minutes=15,
    hints=(
        "Add up the bytes of Q, K and O. How many tiles of each kind fit at once?",
        "One kind stays, another passes. If the keys stay, each unfinished output goes out and comes back; if a query tile stays, "
        "what has to move for its output?",
        "When a query tile is finished, its last tile of keys still lies on the chip. Let the next query tile begin with that one, "
        "so the keys go 0 1 2, 2 1 0, 0 1 2.",
    ),
    why="Each query tile stays until it is finished, so queries and outputs move once. The keys go there and back: at each turn "
    "one tile is already on the chip.",
    insight="The loop of the chapter starts every pass at key tile 0; turning round saves one load of keys in all but the first.",
)  # fmt: skip

_CAUSAL = judged_exercise(
    judge=lambda schedule: CAUSAL.run(schedule)[-2:], answer=_causal_schedule,
    mistakes=(
        *_faults(_causal_schedule, lambda: queries_stay([(i,) for i in range(4)], causal=True), _TRIANGLE, causal=True),
        Mistake("hidden", lambda: ["load Q0", "load K1", "compute Q0 K1"],
            "Under a causal mask a tile of queries has no use for later tiles of keys.", 1),
    ),
    title="A triangle under a budget", level="hard", minutes=20,
    hints=(
        "Add up the bytes again: how many tiles of queries, each with its output, fit beside one tile of keys?",
        "Two tiles of queries share each tile of keys that passes. Which two should go together, if tile i needs the keys 0 to i?",
        "Tiles 0 and 1 need the keys 0 and 1; tiles 2 and 3 need all four. Begin the second pass with the tile of keys that is "
        "still there.",
    ),
    why="Two query tiles stay, so a tile of keys that passes serves both. The pairs (0, 1) and (2, 3) need 2 + 4 tiles of keys, "
    "and one of them stays from the first pass to the second.",
    insight="Half as many passes from a larger chip, and fewer keys from the mask: both savings of chapter 6 at once.",
)  # fmt: skip
