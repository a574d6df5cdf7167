"""A chip with a budget of bytes: it follows a schedule of loads, work, stores and drops, and says which step breaks.

What a piece of work needs and changes is up to the puzzle: `tiles` and `caches` say it.
"""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

MOVES = ("load", "store", "drop")
LONGEST = 500  # steps; every puzzle takes fewer than 50


class Broken(Exception):
    """A step that cannot be done: the kind of fault in a word, and a sentence."""

    def __init__(self, fault, sentence):
        super().__init__(sentence)
        self.fault, self.sentence = fault, sentence


class Run(NamedTuple):
    """What became of a schedule, up to its end or to the step that broke.

    Attributes
    ----------
    puzzle : Puzzle
    steps : list of tuple of str
        The steps that were done: ``("load", "Q0")``.
    touched, held : list of tuple of str
        The blocks that each of them loaded, stored or worked with; those on the chip after it.
    bytes_held, bytes_moved : list of int
        How many bytes these are; how many were loaded and stored up to here.
    loads, stores : Counter
        How often each block was loaded and stored.
    stopped : bool
        A step broke, or something is missing in the end.
    verdict : str
        "right", or the kind of fault or waste.
    sentence : str
        What was seen; "" if all is right.
    """

    puzzle: object
    steps: list
    touched: list
    held: list
    bytes_held: list
    bytes_moved: list
    loads: Counter
    stores: Counter
    stopped: bool
    verdict: str
    sentence: str

    @property
    def moved(self):
        """Bytes loaded and stored in all."""
        return self.bytes_moved[-1] if self.bytes_moved else 0


@dataclass(frozen=True)
class Puzzle:
    """Blocks, their bytes, a budget; a subclass adds the work.

    Parameters
    ----------
    sizes : dict of str to int
        Bytes of each block.
    budget : int
        Bytes that the chip may hold.
    least : int
        Bytes that the best schedule moves.
    in_slow : tuple of str
        What slow memory has at the start.
    results : tuple of str
        What it has to have in the end.
    """

    sizes: dict
    budget: int
    least: int
    in_slow: tuple
    results: tuple = ()

    verb = "compute"

    def work(self, names, done):
        """What one piece of work needs, and the block that it changes or None; a `Broken` if it may not be done."""
        raise NotImplementedError

    def missing(self, done):
        """Which work is missing in the end, as a sentence, or ""."""
        raise NotImplementedError

    def wasteful(self, run):
        """The kind of waste in a schedule that works and moves too much."""
        return "wasteful"

    def run(self, schedule):
        """Follow a schedule and return the `Run`."""
        chip = _Chip(self)
        try:
            for number, step in enumerate(steps_of(schedule), 1):
                step = read_step(number, step)
                try:
                    chip.do(step)
                except Broken as broken:
                    raise Broken(broken.fault, f"step {number}, {' '.join(step)}: {broken.sentence}") from None
            chip.end()
        except Broken as broken:
            return chip.ran(broken.fault, broken.sentence)
        return self._judged(chip.ran("right", ""))

    def _judged(self, run):
        if run.moved <= self.least:
            return run
        often = ", ".join(f"{name} {count}" for name, count in sorted(by_kind(run.loads).items()))
        loaded = f"Blocks loaded: {often}" if often else "No block was loaded"
        sentence = f"it works and moves {run.moved} bytes; {self.least} are enough. {loaded}."
        return run._replace(verdict=self.wasteful(run), sentence=sentence)


def by_kind(counts):
    """Loads of Q0, Q1, ... as loads of Q: {"Q": 3, "K": 9}."""
    kinds = Counter()
    for name, count in counts.items():
        kinds[name.rstrip("0123456789")] += count
    return kinds


def steps_of(schedule):
    """The steps of a schedule that is a list, or a text with a step a line."""
    if isinstance(schedule, str):
        schedule = [line for line in schedule.replace(";", "\n").splitlines() if line.strip()]
    if not isinstance(schedule, (list, tuple)):
        raise Broken("unreadable", 'a list of steps is expected, such as ["load Q0", "drop Q0"].')
    if len(schedule) > LONGEST:
        raise Broken("unreadable", f"it has {len(schedule)} steps; fewer than 50 are enough.")
    return schedule


def read_step(number, step):
    """Return a step as a tuple of words.

    Examples
    --------
    >>> read_step(1, "compute q0 K1") == read_step(1, ("compute", "Q0", "K1")) == ("compute", "Q0", "K1")
    True
    """
    words = step.split() if isinstance(step, str) else step
    if not isinstance(words, (list, tuple)) or not words or not all(isinstance(word, (str, int)) for word in words):
        raise Broken("unreadable", f'step {number} is no step; one is written as "load Q0" or ("load", "Q0").')
    return str(words[0]).strip().lower(), *(str(word).strip().upper() for word in words[1:])


class _Chip:
    """What lies on the chip while a schedule is followed."""

    def __init__(self, puzzle):
        self.puzzle = puzzle
        self.held, self.slow, self.unsaved = [], set(puzzle.in_slow), set()
        self.stayed = set()  # what was ever on the chip
        self.done, self.moved = [], 0
        self.loads, self.stores = Counter(), Counter()
        self.trace = []

    def do(self, step):
        verb, *names = step
        if verb in MOVES:
            if len(names) != 1:
                raise Broken("unreadable", f"`{verb}` takes one block.")
            self.known(names[0])
            getattr(self, verb)(names[0])
            touched = () if verb == "drop" else (names[0],)
        elif verb == self.puzzle.verb:
            touched = self.work(names)
        else:
            raise Broken("unreadable", f"the chip knows {', '.join(MOVES)} and {self.puzzle.verb}, not `{verb}`.")
        self.trace.append((step, touched, tuple(self.held), self.room(), self.moved))

    def load(self, name):
        if name in self.held:
            raise Broken("on_chip", f"{name} is on the chip already.")
        if name not in self.slow:
            raise Broken("gone" if name in self.stayed else "early", f"slow memory does not have {name}.")
        self.put(name)
        self.loads[name] += 1
        self.moved += self.puzzle.sizes[name]

    def store(self, name):
        self.here(name)
        if name not in self.unsaved:
            raise Broken("on_chip", f"slow memory has this {name} already.")
        self.slow.add(name)
        self.unsaved.remove(name)
        self.stores[name] += 1
        self.moved += self.puzzle.sizes[name]

    def drop(self, name):
        self.here(name)
        if name in self.unsaved and name in self.puzzle.results:
            raise Broken("lost", f"{name} has changed and is stored nowhere: its sums would be lost.")
        self.held.remove(name)
        self.unsaved.discard(name)

    def work(self, names):
        needed, changed = self.puzzle.work(names, self.done)
        for name in needed:
            self.needs(name)
        if changed is not None:
            if changed not in self.held:
                if changed in self.slow:
                    raise Broken("forgotten", f"{changed} lies in slow memory: without it earlier keys are forgotten.")
                self.put(changed)
            self.unsaved.add(changed)
            self.slow.discard(changed)  # what lies there is out of date
        self.done.append(tuple(names))
        return (*needed, changed) if changed else tuple(needed)

    def end(self):
        missing = self.puzzle.missing(self.done)
        if missing:
            raise Broken("unfinished", f"at the end {missing}.")
        for name in self.puzzle.results:
            if name not in self.slow:
                raise Broken("unstored", f"at the end slow memory does not have {name}.")

    def known(self, name):
        if name not in self.puzzle.sizes:
            raise Broken("unreadable", f"there is no block {name}; there are {', '.join(self.puzzle.sizes)}.")

    def here(self, name):
        """Like `needs`, for a block that no work needs: that it is missing is another fault."""
        try:
            self.needs(name)
        except Broken as broken:
            raise Broken("not_here" if broken.fault == "absent" else broken.fault, broken.sentence) from None

    def needs(self, name):
        if name not in self.held:
            if name in self.slow:
                raise Broken("absent", f"{name} is not on the chip.")
            if name in self.stayed:
                raise Broken("gone", f"{name} was dropped, and slow memory does not have it.")
            raise Broken("early", f"{name} has not come about yet.")

    def put(self, name):
        after = self.room() + self.puzzle.sizes[name]
        if after > self.puzzle.budget:
            raise Broken("over", f"with {name} the chip holds {after} bytes; the budget is {self.puzzle.budget}.")
        self.held.append(name)
        self.stayed.add(name)

    def room(self):
        return sum(self.puzzle.sizes[name] for name in self.held)

    def ran(self, verdict, sentence):
        columns = [list(column) for column in zip(*self.trace, strict=True)] or [[], [], [], [], []]
        return Run(self.puzzle, *columns, self.loads, self.stores, verdict != "right", verdict, sentence)
