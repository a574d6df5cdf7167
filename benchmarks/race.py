"""Times of several contenders, measured in turns until their ratios are known well enough."""

import random
import statistics
import time

from interval import FEWEST, half_width, settled


def race(works, reference, seconds, clock, wall=time.perf_counter):
    """The times of every round, by contender.

    A round runs each contender once, so that a slow moment of the machine hits all; in another order every time, so
    that none always finds the cache as the same other one leaves it. Rounds go on until every ratio to the reference
    is settled or the seconds are over.
    """
    order, times = list(works), {name: [] for name in works}
    shuffle = random.Random(0).shuffle  # the same orders in every run
    start, look = wall(), FEWEST
    while True:
        shuffle(order)
        for name in order:
            before = clock()
            works[name]()
            times[name].append(clock() - before)
        done = len(times[reference])
        if done == look:  # seldom: who looks after every round stops at a lucky one
            if all(settled(numbers) for numbers in ratios(times, reference).values()):
                return times
            look += look // 2
        if done >= FEWEST and wall() - start > seconds:
            return times


def ratios(times, reference):
    """Each contender's time by the reference's time in the same round."""
    return {
        name: [theirs / ours for theirs, ours in zip(all_times, times[reference], strict=True)]
        for name, all_times in times.items()
        if name != reference
    }


def summary(times, reference):
    """What the record keeps of the times."""
    by_name = ratios(times, reference)
    return {
        "rounds": len(times[reference]),
        "settled": all(settled(numbers) for numbers in by_name.values()),
        "seconds": {name: statistics.median(all_times) for name, all_times in times.items()},
        "ratios": {name: statistics.median(numbers) for name, numbers in by_name.items()},
        "interval": {name: half_width(numbers) for name, numbers in by_name.items()},
    }
