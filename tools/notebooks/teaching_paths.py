"""The paths of the page *For teachers*: what to read and which exercises, with the minutes that the chapters need.

    python -m tools.notebooks.teaching_paths          write them into chapters/teachers.md
    python -m tools.notebooks.teaching_paths --check  write nothing, exit 1 if the page says anything else

A path names chapters, and headings where it does not take the whole chapter. Minutes of a section are counted as those
of a chapter are (`reading_time`), those of an exercise are its own; a path that is longer than its hours is an error.
"""

import re
import sys
from pathlib import Path

import nbformat

from attnexercises.engine.registry import registry
from tools.notebooks.reading_time import STATED, cut, minutes

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ROOT / "chapters"
PAGE = CHAPTERS / "teachers.md"
START, END = "<!-- paths: tools/notebooks/teaching_paths.py -->\n", "<!-- end of paths -->\n"
TWO_HOURS = [
    ("01_softmax", ["The question", "Why the exponential", "When the formula meets a computer"], ["softmax"]),
    ("02_attention", ["The question", "From a dictionary to a soft lookup", "The formula", "Two tokens, on paper",
                      "Where queries, keys and values come from"], ["two_token_weight", "sdpa"]),
    ("04_masks", ["Hide a key", "More keys than queries"], ["causal_mask"]),
]  # fmt: skip
ONE_DAY = [
    ("01_softmax", ["The question", "Why the exponential", "When the formula meets a computer", "The denominator has a name",
                    "What gradient do the scores get?", "The product is cheaper than the matrix", "Learning from one right answer"],
     ["softmax", "softmax_backward"]),
    ("02_attention", None, ["two_token_weight", "sdpa", "spot_attention"]),
    ("04_masks", ["The question", "Hide a key", "Show a leak", "A query that sees nothing"],
     ["spot_mask", "masked_softmax"]),
    ("05_multihead", ["The question", "The formula", "Heads built by hand", "One large product instead of many small ones"], ["mha"]),
    ("10_decoding", ["The question", "Do old rows change?", "Keep what the new row needs", "What a token costs",
                     "The bytes of a cache"],
     ["kv_cache", "kv_cache_bytes"]),
]  # fmt: skip
WEEKS = (("prerequisites", "01", "02"), ("03", "04", "05"), ("06", "07", "08"), ("09", "10", "11", "12", "13"))
WEEK = 8  # hours at most


def sections(notebook):
    """{heading: (minutes, exercises)} of a chapter's sections, in their order; what stands before the first is ""."""
    found, name = {"": (0.0, [])}, ""
    for cell in notebook.cells:
        for heading, part in cut(cell):
            if heading and heading[0] == "##":
                name = heading[1].strip()
                found[name] = 0.0, []
            before, ids = found[name]
            labels = re.findall(r'<a id="ex-([\w-]+)"></a>', part.source) if part.cell_type == "markdown" else []
            found[name] = before + minutes([part]), ids + [label.replace("-", "_") for label in labels]
    return found


def slug(heading):
    """The anchor of a heading on the site."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def row(name, headings, exercises):
    """One line of a table: the chapter, what to read in it, the exercises, both minutes. And the minutes together."""
    notebook = nbformat.read(CHAPTERS / f"{name}.ipynb", as_version=4)
    parts, known = sections(notebook), registry()
    title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
    number = str(int(name[:2])) + " " if name[0].isdigit() else ""
    if headings is None:
        ((stated, _),) = STATED.findall(notebook.cells[0].source)
        further = parts.pop("Further", None)
        reading, inside = int(stated), [id for _, ids in parts.values() for id in ids]
        shown = "all of it" if further is None else "all of it but *Further*"
    else:
        missing = [heading for heading in headings if heading not in parts]
        if missing:
            raise SystemExit(f"teaching_paths: {name} has no section {missing[0]!r}.")
        reading = round(sum(parts[heading][0] for heading in headings))
        inside = [id for heading in headings for id in parts[heading][1]]
        shown = "; ".join(f"[{heading}]({name}.ipynb#{slug(heading)})" for heading in headings)
    exercises = inside if exercises is None else exercises
    for id in exercises:
        if id not in inside:
            raise SystemExit(f"teaching_paths: the exercise {id!r} is not in what is read of {name}.")
    doing = sum(known[id].minutes for id in exercises)
    which = "all exercises" if headings is None and exercises == inside else ", ".join(f"`{id}`" for id in exercises)
    return f"| [{number}{title}]({name}.ipynb): {shown}. Do: {which} | {reading} + {doing} |", reading + doing


def path(title, hours, steps):
    """A heading, the minutes together, and a table."""
    rows = [row(*step) for step in steps]
    total = sum(minutes for _, minutes in rows)
    if total > 60 * hours:
        raise SystemExit(f"teaching_paths: {title} takes {total} minutes, more than {hours} hours.")
    head = [f"### {title}", "", f"{total} minutes in all.", ""]
    head += ["| Read and do | Minutes |", "|---|---|"]  # two columns fit a phone
    return "\n".join([*head, *(line for line, _ in rows), ""])


def paths():
    """All paths, as they stand on the page."""
    texts = [path("Two hours", 2, TWO_HOURS), path("One day", 6, ONE_DAY)]
    names = sorted(file.stem for file in [*CHAPTERS.glob("[0-9][0-9]_*.ipynb"), CHAPTERS / "prerequisites.ipynb"])
    for number, chosen in enumerate(WEEKS, start=1):
        steps = [(name, None, None) for start in chosen for name in names if name.startswith(start)]
        texts.append(path(f"Four weeks: week {number}", WEEK, steps))
    return "\n".join(texts)


def main(arguments):
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(START)
    made = before + START + "\n" + paths() + "\n" + END + rest.split(END)[1]
    if "--check" in arguments:
        return 0 if made == text else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
