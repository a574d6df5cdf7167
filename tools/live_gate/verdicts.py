"""Every answer the repository knows to every exercise, and what is said to it. Here and in the page's Python alike."""

import warnings

from attnexercises import grade
from attnexercises.engine.registry import registry


def known():
    """Pairs (name, exercise, answer): solutions, accepted ways, mistakes, and the corpus of wrong answers."""
    from accepted import accepted
    from corpus import answers

    for exercise in registry().values():
        yield f"{exercise.id}: solution", exercise, exercise.solution
        for name, way in accepted(exercise.id).items():
            yield f"{exercise.id}: accepted, {name}", exercise, way
        for mistake in exercise.mistakes:
            yield f"{exercise.id}: mistake, {mistake.id}", exercise, exercise.family(frozenset({mistake.id}))
    for answer in answers():
        yield f"{answer.id}: corpus, {answer.what}", answer.id, answer.given


def given():
    """{name: [status, mistakes, lines]} for every one of them."""
    found = {}
    for name, exercise, answer in known():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = grade(exercise, answer)
        assert name not in found, name
        found[name] = [result.status, list(result.mistakes), list(result.lines)]
    return found
