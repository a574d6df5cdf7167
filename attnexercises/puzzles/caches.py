"""The schedules of decoding: which keys and values a cache with a budget keeps, drops and loads."""

from collections import Counter
from dataclasses import dataclass

from attnexercises.engine.model import Mistake, judged_exercise
from attnexercises.puzzles.machine import Broken, Puzzle


@dataclass(frozen=True)
class Window(Puzzle):
    """``token 4`` decodes token 4: it looks at token 0 (the sink), at the two before it, and at itself.

    Its own key and value, the block C4, come about on the chip.
    """

    n: int = 0
    verb = "token"

    def work(self, names, done):
        """The blocks of the tokens that it looks at; its own is new."""
        if len(names) != 1 or not names[0].isdecimal() or int(names[0]) >= self.n:
            raise Broken("unreadable", f"`token` takes a number from 0 to {self.n - 1}.")
        t = int(names[0])
        if t != len(done):
            raise Broken("order", f"tokens come one after the other; the next is token {len(done)}.")
        return [f"C{j}" for j in range(t) if j == 0 or j >= t - 2], f"C{t}"

    def missing(self, done):
        """The first token that was not decoded."""
        return f"token {len(done)} is not decoded" if len(done) < self.n else ""


@dataclass(frozen=True)
class Texts(Puzzle):
    """``token A`` decodes the next token of text A: it needs the shared prompt P and the text's own block A.

    In each round every text gets one token, in any order. (A new key and value go into the block and to slow memory at
    once, which costs the same in every schedule and is not counted.)
    """

    texts: str = ""
    rounds: int = 0
    verb = "token"

    def work(self, names, done):
        """The prompt and the text's own block; nothing has to be stored."""
        if len(names) != 1 or names[0] not in tuple(self.texts):
            raise Broken("unreadable", f"`token` takes a text: {', '.join(self.texts)}.")
        counts = Counter(text for (text,) in done)
        ahead = [text for text in self.texts if counts[text] < counts[names[0]]]
        if ahead or counts[names[0]] == self.rounds:
            waits = f"text {ahead[0]} still waits for its token {counts[ahead[0]]}" if ahead else "all rounds are done"
            raise Broken("unfair", f"{waits}.")
        return ["P", names[0]], None

    def missing(self, done):
        """The first text that has too few tokens."""
        counts = Counter(text for (text,) in done)
        few = [text for text in self.texts if counts[text] < self.rounds]
        return f"text {few[0]} has {counts[few[0]]} of {self.rounds} tokens" if few else ""

    def wasteful(self, run):
        """By what was loaded, and by the order of the rounds."""
        order = [step[1] for step in run.steps if step[0] == "token"]
        count = len(self.texts)
        if run.loads["P"] > 1:
            return "prompt_again"
        if sum(run.loads[text] for text in self.texts) == len(order):
            return "one_just_left"
        if all(order[i : i + count] == order[:count] for i in range(0, len(order), count)):
            return "same_order"
        return "wasteful"


WINDOW = Window({f"C{t}": 32 for t in range(7)}, 128, 0, (), (), 7)


def least_of_texts(texts, rounds, prompt, own):
    """One text less than there are fits beside the prompt: all once, then one a round."""
    return prompt + (texts + rounds - 1) * own


_SIZES = {"P": 128, "A": 64, "B": 64, "C": 64}
TEXTS = Texts(_SIZES, 256, least_of_texts(3, 3, 128, 64), tuple(_SIZES), (), "ABC", 3)


def _window_cache():
    steps = ["token 0", "token 1", "token 2", "token 3"]
    for t in range(4, 7):
        steps += [f"drop C{t - 3}", f"token {t}"]
    return steps


def _text_cache():
    first = ["load P", "load A", "token A", "load B", "token B", "drop A", "load C", "token C"]
    second = ["token C", "token B", "drop C", "load A", "token A"]  # begins with the texts that are still there
    third = ["token A", "token B", "drop A", "load C", "token C"]
    return first + second + third


def _in_turn(orders, prompt=False):
    """Drop the text that was served longest ago, or with `prompt` everything after each token."""
    steps, there = [] if prompt else ["load P"], []
    for text in "".join(orders):
        if prompt:
            steps += ["load P", f"load {text}", f"token {text}", f"drop {text}", "drop P"]
            continue
        if text in there:
            there.remove(text)
        else:
            if len(there) == 2:
                steps.append(f"drop {there.pop(0)}")
            steps.append(f"load {text}")
        there.append(text)
        steps.append(f"token {text}")
    return steps


def _farthest(order):
    """The order of the rounds is given; dropped is the text that is needed last."""
    steps, there = ["load P"], []
    for place, text in enumerate(order):
        if text not in there:
            if len(there) == 2:
                rest = order[place:]
                last = max(there, key=lambda other: rest.index(other) if other in rest else len(rest))
                there.remove(last)
                steps.append(f"drop {last}")
            there.append(text)
            steps.append(f"load {text}")
        steps.append(f"token {text}")
    return steps


def _sink_out_and_in():
    steps = ["token 0", "token 1", "token 2", "token 3", "drop C1", "store C0", "drop C0", "load C0", "token 4"]
    return [*steps, "drop C2", "token 5", "drop C3", "token 6"]


_WINDOW = judged_exercise(
    judge=lambda schedule: WINDOW.run(schedule)[-2:], answer=_window_cache,
    mistakes=(
        Mistake("over", lambda: [f"token {t}" for t in range(7)],
            "A block stays until it is dropped: make room before the next token.", 1),
        Mistake("gone", lambda: ["token 0", "token 1", "token 2", "token 3", "drop C0", "token 4"],
            "Dropped without a copy is gone for good. Which block will no later token look at?", 2),
        Mistake("unfinished", lambda: [f"token {t}" for t in range(4)], "All seven tokens are to be decoded.", 1),
        Mistake("order", lambda: ["token 0", "token 2"], "Each token is made from those before it.", 1),
        Mistake("wasteful", _sink_out_and_in,
            "No block that a later token looks at has to leave the chip, and no other has to be stored.", 3),
    ),
    title="A window and a sink under a budget", level="easy", minutes=8,
    hints=(
        "How many blocks fit? Before which token is the chip full for the first time?",
        "Write down what token 4 looks at. Which of the blocks on the chip is not among them, and in no later list?",
        "The sink stays for ever; from token 4 on, the block that has just left the window is dropped before the token is decoded.",
    ),
    why="The first four tokens fit. From then on the block that left the window makes room for the new one; the sink is never in "
    "the way of the window.",
    insight="Nothing moves at all: a cache that knows its mask never asks slow memory for anything.",
)  # fmt: skip

_TEXTS = judged_exercise(
    judge=lambda schedule: TEXTS.run(schedule)[-2:], answer=_text_cache,
    mistakes=(
        Mistake("over", lambda: ["load P", "load A", "load B", "load C"],
            "A block stays until it is dropped: the prompt and two texts fit.", 1),
        Mistake("absent", lambda: ["load P", "token A"], "A token needs the prompt and the block of its own text.", 1),
        Mistake("unfair", lambda: ["load P", "load A", "token A", "token A"],
            "Readers of all texts wait: a round gives each of them one token.", 1),
        Mistake("unfinished", lambda: _in_turn(["ABC"]), "Three rounds are asked for.", 1),
        Mistake("prompt_again", lambda: _in_turn(["ABC"] * 3, prompt=True),
            "The prompt serves every token: it can stay from first to last.", 1),
        Mistake("one_just_left", lambda: _in_turn(["ABC"] * 3),
            "Every token had to load its text: in a circle, what was used longest ago is just what comes next.", 2),
        Mistake("same_order", lambda: _farthest("ABC" * 3),
            "All rounds have the same order; a round may begin with the texts that are on the chip.", 3),
    ),
    title="Three texts share a prompt", level="medium", minutes=12,
    hints=(
        "Two texts fit beside the prompt. How many loads does the first round need, whatever you do?",
        "At the end of a round two texts are on the chip. Nobody says that the next round has to begin with A.",
        "Serve first those that are there; one load a round is left. Let each round run the last one backwards.",
    ),
    why="The prompt stays. Each round begins with the two texts that the last one left on the chip, so that only the third has to "
    "be loaded: there and back, as with the tiles.",
    insight="Keys of a tile, texts of a batch: where a circle reloads everything, going there and back reloads one.",
)  # fmt: skip
