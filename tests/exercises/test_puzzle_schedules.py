"""Schedules under a budget: the machine says what breaks, counts as the library does, and no schedule beats the best."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from answers import first_line
from schedule_search import least_of_texts, least_of_tiles
from truth_of_runs import holds

from attnexercises import TODO, grade
from attnexercises.engine.registry import registry
from attnexercises.puzzles import CAUSAL, FLASH, TEXTS, WINDOW, caches, tiles
from attnexercises.puzzles.tiles import BYTES, least_one_by_one, queries_stay
from attnlib.costs import count_traffic

PUZZLES = {"flash_schedule": FLASH, "causal_schedule": CAUSAL, "window_cache": WINDOW, "text_cache": TEXTS}
every_puzzle = pytest.mark.parametrize("id", PUZZLES)

# --- the best possible ----------------------------------------------------------------------------


@pytest.mark.parametrize("q, k", [(1, 1), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3)])
def test_no_schedule_with_room_for_one_tile_of_each_moves_less(q, k):
    assert least_one_by_one(q, k) == least_of_tiles(q, k, BYTES, FLASH.budget)


def test_no_causal_schedule_moves_less():
    assert CAUSAL.least == least_of_tiles(4, 4, BYTES, CAUSAL.budget, causal=True)


@pytest.mark.parametrize("q, k, budget", [(2, 2, 320), (2, 3, 320), (3, 2, 448)])
def test_the_search_finds_the_same_without_its_bound(q, k, budget):
    for causal in (False, True):
        sizes = (q, k, BYTES, budget, causal)
        assert least_of_tiles(*sizes) == least_of_tiles(*sizes, bound=False)


@pytest.mark.parametrize("texts, rounds", [(3, 1), (3, 2), (3, 3), (4, 2)])
def test_no_order_of_the_texts_loads_less(texts, rounds):
    budget = 128 + 64 * (texts - 1)
    assert caches.least_of_texts(texts, rounds, 128, 64) == least_of_texts("ABCD"[:texts], rounds, 128, 64, budget)


@every_puzzle
def test_our_schedule_moves_the_least(id):
    run = PUZZLES[id].run(registry()[id].solution())
    assert (run.verdict, run.moved) == ("right", PUZZLES[id].least)
    assert max(run.bytes_held) <= PUZZLES[id].budget


# --- what is counted ------------------------------------------------------------------------------


@pytest.mark.parametrize("groups, block", [([(0,), (1,), (2,)], 4), ([(0, 1), (2,)], 8), ([(0, 1, 2)], 12)])
@pytest.mark.parametrize("causal", [False, True])
def test_the_loop_of_the_chapter_moves_what_the_law_says(groups, block, causal):
    """Queries outside. Under a causal mask the tiles of keys are as long as those of queries."""
    puzzle = tiles(3, 3, 10_000, 0, causal)
    law = count_traffic(12, 12, 4, method="flash", block_q=block, block_k=4, causal=causal)
    assert puzzle.run(queries_stay(groups, causal)).moved == 4 * law.total


def test_bytes_are_counted_step_by_step():
    run = FLASH.run("load Q0; load K1; compute Q0 K1; store O0; drop O0; load O0; drop K1")
    assert run.bytes_moved == [64, 192, 192, 272, 272, 352, 352]
    assert run.bytes_held == [64, 192, 272, 272, 192, 272, 144]
    assert run.touched == [("Q0",), ("K1",), ("Q0", "K1", "O0"), ("O0",), (), ("O0",), ()]
    assert (dict(run.loads), dict(run.stores)) == ({"Q0": 1, "K1": 1, "O0": 1}, {"O0": 1})


def test_what_the_page_says_of_the_loop_is_so():
    run = FLASH.run(queries_stay([(0,), (1,), (2,)]))
    page = nbformat.read(Path(__file__).parents[2] / "chapters/puzzles.ipynb", as_version=4)
    (said,) = {n for cell in page.cells for n in re.findall(r"for three tiles, would move (\d+)", cell.source)}
    assert run.moved == int(said) and run.verdict == "keys_each_time"


# --- what breaks ----------------------------------------------------------------------------------

HAVE = "load Q0; load K0; compute Q0 K0; "
BROKEN = [
    (FLASH, "load Q0; compute Q0 K2", "absent", "step 2, compute Q0 K2: K2 is not on the chip."),
    (FLASH, HAVE + "load K1", "over", "step 4, load K1: with K1 the chip holds 400 bytes; the budget is 320."),
    (FLASH, "load Q0; load Q1; load K0; compute Q0 K0", "over", "step 4, compute Q0 K0: with O0 the chip holds 336 bytes; the budget is 320."),
    (FLASH, HAVE + "compute Q0 K0", "again", "step 4, compute Q0 K0: Q0 has met K0 before: the keys would count twice."),
    (FLASH, HAVE + "drop O0", "lost", "step 4, drop O0: O0 has changed and is stored nowhere: its sums would be lost."),
    (FLASH, HAVE + "store O0; store O0", "on_chip", "step 5, store O0: slow memory has this O0 already."),
    (FLASH, "load K0; store K0", "on_chip", "step 2, store K0: slow memory has this K0 already."),
    (FLASH, "load K0; load K0", "on_chip", "step 2, load K0: K0 is on the chip already."),
    (FLASH, "load O0", "early", "step 1, load O0: slow memory does not have O0."),
    (FLASH, "drop O1", "early", "step 1, drop O1: O1 has not come about yet."),
    (FLASH, HAVE + "store O0; drop O0; drop K0; load K1; compute Q0 K1", "forgotten",
     "step 8, compute Q0 K1: O0 lies in slow memory: without it earlier keys are forgotten."),
    (FLASH, HAVE + "store O0; drop K0; load K1; compute Q0 K1; drop O0", "lost",
     "step 8, drop O0: O0 has changed and is stored nowhere: its sums would be lost."),
    (FLASH, "", "unfinished", "at the end Q0 has not met K0."),
    (FLASH, "load X", "unreadable", "step 1, load X: there is no block X; there are Q0, Q1, Q2, K0, K1, K2, O0, O1, O2."),
    (FLASH, "load", "unreadable", "step 1, load: `load` takes one block."),
    (FLASH, "eat K0", "unreadable", "step 1, eat K0: the chip knows load, store, drop and compute, not `eat`."),
    (FLASH, "compute K0 Q0", "unreadable", "`compute` takes a tile of queries and a tile of keys, such as Q0 K1."),
    (FLASH, "compute Q0", "unreadable", "`compute` takes a tile of queries and a tile of keys, such as Q0 K1."),
    (FLASH, ["load Q0", 7], "unreadable", 'step 2 is no step; one is written as "load Q0" or ("load", "Q0").'),
    (FLASH, 7, "unreadable", 'a list of steps is expected, such as ["load Q0", "drop Q0"].'),
    (FLASH, ["load Q0"] * 600, "unreadable", "it has 600 steps; fewer than 50 are enough."),
    (CAUSAL, "compute Q1 K2", "hidden", "step 1, compute Q1 K2: every key of K2 comes after every query of Q1: the mask hides them all."),
    (WINDOW, "token 0; token 0", "order", "step 2, token 0: tokens come one after the other; the next is token 1."),
    (WINDOW, "token 7", "unreadable", "step 1, token 7: `token` takes a number from 0 to 6."),
    (WINDOW, "token -1", "unreadable", "step 1, token -1: `token` takes a number from 0 to 6."),
    (WINDOW, "token 0; drop C0; token 1", "gone", "step 3, token 1: C0 was dropped, and slow memory does not have it."),
    (WINDOW, "token 0; drop C0; load C0", "gone", "step 3, load C0: slow memory does not have C0."),
    (WINDOW, "token 0; drop C3", "early", "step 2, drop C3: C3 has not come about yet."),
    (TEXTS, "load P; token A", "absent", "step 2, token A: A is not on the chip."),
    (TEXTS, "load P; load A; token A; token A", "unfair", "step 4, token A: text B still waits for its token 0."),
    (TEXTS, "token D", "unreadable", "step 1, token D: `token` takes a text: A, B, C."),
    (TEXTS, "load P; load A; token A", "unfinished", "at the end text A has 1 of 3 tokens."),
]  # fmt: skip


@pytest.mark.parametrize("puzzle, schedule, verdict, sentence", BROKEN)
def test_the_step_that_breaks_is_told(puzzle, schedule, verdict, sentence):
    run = puzzle.run(schedule)
    assert run.stopped and run.verdict == verdict
    assert run.sentence.endswith(sentence)


def test_a_result_that_is_out_of_date_does_not_count():
    """O0 is stored, then changed once more and left on the chip."""
    puzzle = tiles(1, 2, 10_000, 0)
    end = puzzle.run(HAVE + "load K1; store O0; compute Q0 K1")
    assert (end.verdict, end.sentence) == ("unstored", "at the end slow memory does not have O0.")
    assert puzzle.run(HAVE + "load K1; store O0; compute Q0 K1; store O0").moved == 64 + 2 * 128 + 2 * 80


# --- the check ------------------------------------------------------------------------------------


def test_a_schedule_may_be_written_in_several_ways():
    steps = registry()["flash_schedule"].solution()
    several = (tuple(steps), "\n".join(steps), "; ".join(steps).upper(), [step.split() for step in steps])
    for schedule in (*several, [tuple(step.split()) for step in steps], lambda: steps):
        assert grade("flash_schedule", schedule).status == "passed"
    numbered = [("token", int(step.split()[1])) if "token" in step else step for step in registry()["window_cache"].solution()]
    assert grade("window_cache", numbered).status == "passed"


@every_puzzle
@pytest.mark.parametrize("answer", [7, {}, {"load": "Q0"}, np.zeros(3), [None], [[]], ["", ""], [("load",)], [(1, 2)], b"load Q0", object()])
def test_what_is_no_schedule_gets_a_sentence(id, answer):
    result = grade(id, answer)
    assert result.status == "wrong" and "Error" not in result.lines[0]


@every_puzzle
def test_a_blank_is_not_judged(id):
    assert grade(id, ["load Q0", TODO]).lines[0] == f"[ ] {id}: a TODO is left"


def test_a_schedule_that_works_is_compared_and_a_known_cause_named():
    said = first_line(queries_stay([(0,), (1,), (2,)]), "flash_schedule")
    assert "it works and moves 1584 bytes; 1328 are enough. Blocks loaded: K 9, Q 3. There is a load of keys for each pair" in said


def test_waste_that_nobody_knows_is_described():
    """Right but for one turn: K2 is loaded again, as if it had not been there."""
    steps = registry()["flash_schedule"].solution()
    place = steps.index("load Q1")
    said = first_line([*steps[:place], "drop K2", "load Q1", "load K2", *steps[place + 1 :]], "flash_schedule")
    assert said == "[!] flash_schedule: it works and moves 1456 bytes; 1328 are enough. Blocks loaded: K 8, Q 3."


def test_the_same_order_each_round_cannot_do_with_fewer_loads():
    """So `same_order` names what is to be changed: with this order, six loads of texts are the least."""
    steps = registry()["text_cache"].family(frozenset({"same_order"}))()
    assert sum(step in ("load A", "load B", "load C") for step in steps) == 6

    def loads(order, held=frozenset()):
        if not order:
            return 0
        if order[0] in held:
            return loads(order[1:], held)
        after = [held - {gone} | {order[0]} for gone in held] if len(held) == 2 else [held | {order[0]}]
        return 1 + min(loads(order[1:], now) for now in after)

    assert loads("ABC" * 3) == 6 and loads("ABCCBAABC") == 5


@pytest.mark.parametrize("old, new", [("1584", "1580"), ("1328", "1320"), ("K 9", "K 8"), ("it works", "it runs")])
def test_the_measure_of_truth_finds_a_false_sentence_on_a_schedule(old, new):
    steps = queries_stay([(0,), (1,), (2,)])
    said = FLASH.run(steps).sentence.removesuffix(".")
    exercise = registry()["flash_schedule"]
    assert holds(exercise, steps, said) and not holds(exercise, steps, said.replace(old, new))


@pytest.mark.parametrize("puzzle, schedule, verdict, sentence", [row for row in BROKEN if row[2] in ("absent", "over", "lost", "forgotten", "gone")])
def test_the_measure_of_truth_finds_a_false_sentence_on_a_step(puzzle, schedule, verdict, sentence):
    """True where it breaks; said of the first step, or of another block, it is not."""
    exercise = next(registry()[id] for id, other in PUZZLES.items() if other is puzzle)
    said = puzzle.run(schedule).sentence.removesuffix(".")
    if verdict != "gone" or "load" not in said:
        assert holds(exercise, schedule, said)
    false = re.sub(r"^step \d+", "step 1", said) if not said.startswith("step 1,") else said.replace("step 1", "step 2")
    assert not holds(exercise, schedule, false)
