"""The counts of the corpus as a table, and the messages behind them."""

from collections import Counter

from . import VERDICTS, judged


def table():
    """Return one line for each topic, and one for all of them."""
    counts = {}
    for answer, _, verdict in judged():
        counts.setdefault(answer.topic, Counter())[verdict] += 1
    counts["all"] = sum(counts.values(), Counter())
    width = max(map(len, counts))
    lines = [" ".join([" " * width, *(f"{name:>14}" for name in VERDICTS), "   named"])]
    for topic, found in counts.items():
        share = found["named rightly"] / found.total()
        lines.append(" ".join([f"{topic:{width}}", *(f"{found[name]:14}" for name in VERDICTS), f"{share:8.0%}"]))
    return "\n".join(lines)


def messages(word):
    """Return what is said to each answer whose exercise, topic, file or verdict is `word`, worst verdicts first."""
    chosen = [
        (answer, result, verdict)
        for answer, result, verdict in judged()
        if word in (answer.id, answer.topic, answer.file, verdict)
    ]
    chosen.sort(key=lambda one: VERDICTS.index(one[2]))
    return "\n".join(
        f"{verdict.upper()}: {answer.id}: {answer.what} {list(result.mistakes) or ''}\n    " + "\n    ".join(lines[:2])
        for answer, result, verdict in chosen
        for lines in [result.lines]
    )
