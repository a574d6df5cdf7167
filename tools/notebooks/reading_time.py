"""How long a chapter takes to read: what it says of itself against what its words and lines of code need.

A chapter has a core, the line of thought, and behind the heading *Further* sections that nobody has to read. The opener
states the minutes of the core, and each section of *Further* begins with its own: ``*About 4 minutes.*`` If the opener
gives the minutes of *Further*, they are the sum that a reader gets from its sections.
"""

import re
from pathlib import Path

from nbformat import NotebookNode

WORDS, LINES = 70, 7  # a minute: the pace that fits five timed readings
LONGEST = 60  # minutes that the core may take
FOLDED = {"hide-input", "hide-cell", "remove-input"}  # tags of a cell whose code is not in view
CHAPTER = re.compile(r"\d\d_\w+|prerequisites|puzzles")
NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()
STATED = re.compile(r"^\*\*Time\*\* about (\d+) minutes of reading, and .+ for the (?:(\w+) )?exercises?\b", re.M)
HEADING = re.compile(r"^(#{2,3}) (.+)$", re.M)
EXERCISE = re.compile(r"Exercise \d")  # it states the minutes of its own work, and is read in the section before it
ABOUT = re.compile(r"\s*\*About (\w+) minutes?\.\*")
MORE = re.compile(r"\b(\d+) more minutes\b")  # of *Further*, in the opener


def minutes(cells):
    """Minutes of reading: the words of Markdown cells, and the lines of code that are in view and not empty."""
    words = sum(len(cell.source.split()) for cell in cells if cell.cell_type == "markdown")
    in_view = [cell for cell in cells if cell.cell_type == "code" and not FOLDED & set(cell.metadata.get("tags", []))]
    lines = sum(bool(line.strip()) for cell in in_view for line in cell.source.splitlines())
    return words / WORDS + lines / LINES


def core_and_further(notebook):
    """The cells before the heading *Further*, and the sections below it as pairs of a heading and cells."""
    core, sections, behind = [], [], False
    for cell in notebook.cells:
        for heading, part in cut(cell):
            behind = behind or heading == ("##", "Further")
            if not behind:
                core.append(part)
            elif heading and heading[0] == "###" and not (sections and EXERCISE.match(heading[1])):
                sections.append((heading[1], [part]))
            elif sections:
                sections[-1][1].append(part)
    return core, sections


def cut(cell):
    """A cell in parts that begin with a heading; the part before the first heading, or a code cell, has none."""
    if cell.cell_type != "markdown":
        return [(None, cell)]
    starts = [found.start() for found in HEADING.finditer(cell.source)]
    ends = [*starts, len(cell.source)]
    parts = [(None, cell.source[: ends[0]])] if ends[0] else []
    for start, end in zip(starts, ends[1:], strict=True):
        parts.append((HEADING.match(cell.source[start:end]).groups(), cell.source[start:end]))
    return [(heading, NotebookNode(cell | {"source": text})) for heading, text in parts]


def check_time(path, notebook):
    """What is wrong with the length of a chapter, as a list of sentences; nothing for any other notebook."""
    name = Path(path).stem
    if not CHAPTER.fullmatch(name):
        return []
    core, sections = core_and_further(notebook)
    takes = minutes(core)
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
    found += [text for heading, cells in sections for text in check_section(heading, cells)]
    more = MORE.search(notebook.cells[0].source) if notebook.cells else None
    together = sum(stated_minutes(cells) or 0 for _, cells in sections)
    if more and int(more[1]) != together:
        found.append(f"the first cell says {more[1]} more minutes, the sections of *Further* say {together} in all")
    return found


def stated_minutes(cells):
    """The minutes with which a section of *Further* begins; None if it does not state them, -1 for a word that is no number."""
    about = ABOUT.match(cells[0].source.partition("\n")[2])
    if about is None:
        return None
    return NUMBERS.index(about[1]) if about[1] in NUMBERS else int(about[1]) if about[1].isdigit() else -1


def check_section(heading, cells):
    """What is wrong with the minutes that a section of *Further* states: they may be rounded up or down."""
    takes, stated = minutes(cells), stated_minutes(cells)
    nearest = max(1, round(takes))
    form = f"*About {nearest} minute{'s' if nearest > 1 else ''}.*"
    if stated is None:
        return [f"the section {heading!r} does not begin with its minutes; write: {form}"]
    if abs(stated - takes) >= 1 and stated != nearest:
        said = ABOUT.match(cells[0].source.partition("\n")[2])[1]
        return [f"the section {heading!r} says {said} minutes, computed are {takes:.1f}; write: {form}"]
    return []


def spelled(number):
    """A small number as a word, as it stands in a sentence."""
    return NUMBERS[number] if number < len(NUMBERS) else str(number)
