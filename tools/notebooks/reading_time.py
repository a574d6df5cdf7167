"""How long a chapter takes to read: what its opener says against what its words and lines of code need."""

import re
from pathlib import Path

WORDS, LINES = 70, 30  # a minute: what careful readers of the chapters needed
LONGEST = 70  # minutes
CHAPTER = re.compile(r"\d\d_\w+|prerequisites|puzzles")
NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()
STATED = re.compile(r"^\*\*Time\*\* about (\d+) minutes of reading, and .+ for the (?:(\w+) )?exercises\b", re.M)


def minutes(notebook):
    """Words of the Markdown cells, and lines of the code cells that are not empty, in minutes of reading."""
    source = {kind: [cell.source for cell in notebook.cells if cell.cell_type == kind] for kind in ("markdown", "code")}
    words = sum(len(text.split()) for text in source["markdown"])
    lines = sum(bool(line.strip()) for text in source["code"] for line in text.splitlines())
    return words / WORDS + lines / LINES


def check_time(path, notebook):
    """What is wrong with the length of a chapter, as a list of sentences; nothing for any other notebook."""
    name = Path(path).stem
    if not CHAPTER.fullmatch(name):
        return []
    takes = minutes(notebook)
    found = [f"{takes:.1f} minutes of reading, at most {LONGEST}"] if takes > LONGEST else []
    stated = STATED.search(notebook.cells[0].source) if notebook.cells else None
    form = f"**Time** about {5 * round(takes / 5)} minutes of reading, and ... for the exercises."
    if stated is None:
        found.append(f"the first cell does not say how long reading takes; write: {form}")
    elif abs(int(stated[1]) - takes) > 5:
        found.append(f"the first cell says {stated[1]} minutes of reading, computed are {takes:.1f}; write: {form}")
    exercises = sum(tag.startswith("exercise-") for cell in notebook.cells for tag in cell.metadata.get("tags", []))
    if stated and stated[2] and stated[2] != spelled(exercises):
        found.append(f"the first cell says {stated[2]} exercises; write: {spelled(exercises)}")
    return found


def spelled(number):
    """A small number as a word, as it stands in a sentence."""
    return NUMBERS[number] if number < len(NUMBERS) else str(number)
