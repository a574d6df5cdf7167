"""Every known mistake is graded once, with all details: whatever a test asserts about a mistake reads this one result.

A result is kept for the tests of one process, so the tests that need all of them stand together in
`test_known_mistakes.py`: pytest-xdist gives a file to one process.
"""

import functools

from exercise_cases import bits

from attnexercises import grade


def wrong_answer(exercise, mistake):
    """The answer that makes this mistake and no other, as a reader hands it over: a function or a value."""
    answer = exercise.family(bits(mistake.id))
    return answer() if exercise.value else answer


@functools.cache
def graded(exercise, mistake):
    """What the judge says to this mistake, and the smallest case that shows it."""
    return grade(exercise, wrong_answer(exercise, mistake), details=True)
