"""benchmarks/race.py, with a clock that only the contenders move."""

import itertools
from collections import Counter

import pytest
from race import race, summary


class Track:
    """Contenders that take given times, round by round, and note who ran when."""

    def __init__(self, **times):
        self.now, self.ran = 0.0, []
        self.works = {name: self.work(name, itertools.cycle(all_times)) for name, all_times in times.items()}

    def work(self, name, all_times):
        def run():
            self.ran.append(name)
            self.now += next(all_times)

        return run

    def race(self, seconds):
        return race(self.works, "ours", seconds, clock=lambda: self.now, wall=lambda: self.now)


def test_equal_times_settle_after_six_rounds():
    track = Track(ours=[2.0], theirs=[3.0], third=[1.0])
    said = summary(track.race(seconds=1000), "ours")
    assert said["rounds"] == 6 and said["settled"] is True
    assert said["ratios"] == {"theirs": 1.5, "third": 0.5} and said["interval"] == {"theirs": 0, "third": 0}
    assert said["seconds"] == pytest.approx({"ours": 2, "theirs": 3, "third": 1})


def test_rounds_go_on_until_the_last_ratio_is_settled():
    # One in four of `wild` is slow: among few rounds the interval reaches it, among enough it does not.
    track = Track(ours=[1.0], calm=[1.0], wild=[1.0, 1.0, 2.0, 1.0])
    said = summary(track.race(seconds=2000), "ours")
    assert 6 < said["rounds"] < 100 and said["settled"] is True and said["ratios"]["wild"] == 1


def test_when_the_seconds_are_over_the_row_says_that_it_is_not_settled():
    track = Track(ours=[1.0], theirs=[1.0, 3.0])
    said = summary(track.race(seconds=100), "ours")
    assert said["settled"] is False and said["interval"]["theirs"] == pytest.approx(1, abs=0.01)
    assert 100 < track.now < 100 + 4  # at most the round in which they ended


def test_six_rounds_are_run_however_long_they_take():
    assert summary(Track(ours=[50.0], theirs=[50.0, 90.0]).race(seconds=1), "ours")["rounds"] == 6


def test_a_slow_moment_that_hits_a_whole_round_leaves_the_ratios_as_they_are():
    slow = [1.0, 8.0, 3.0]
    said = summary(Track(ours=slow, theirs=[2 * time for time in slow]).race(seconds=1000), "ours")
    assert said["ratios"] == {"theirs": 2} and said["settled"] is True


def test_every_round_runs_each_once_in_an_order_that_changes_and_is_the_same_in_every_run():
    times = {"ours": [1.0], "a": [1.0, 2.0], "b": [1.0], "c": [1.0]}
    tracks = Track(**times), Track(**times)
    for track in tracks:
        track.race(seconds=800)
    ran = tracks[0].ran
    assert ran == tracks[1].ran
    rounds = [tuple(ran[start : start + 4]) for start in range(0, len(ran), 4)]
    assert len(rounds) > 100 and all(sorted(names) == sorted(times) for names in rounds)
    before = Counter(pair for names in rounds for pair in itertools.pairwise(names))
    assert len(before) == 12  # everyone has run after everyone
    assert set(Counter(names[0] for names in rounds)) == set(times)  # and everyone first
