"""Which chapter holds which exercises, in the order of the book: read from `_toc.yml` and from the tags of the cells.

The exercises know no notebook: they are packed for the browser without the chapters. So the order is written into one
file beside them, `attnexercises/book_order.json`. The README's table of chapters follows from the same list. Both are
written anew by every `python -m tools.notebooks run`, and a test says when they are not up to date.
"""

import json
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "attnexercises" / "book_order.json"
TAG = "exercise-"
TABLE = re.compile(r"\| Chapter \| Room \| Exercises \|\n(?:\|.*\n)+")


def book_order(root=ROOT):
    """Return topic -> number, title, notebook and the exercises of each chapter, in the order of the book.

    A notebook is called by its topic, with a number in front if it is a chapter: ``01_softmax``. One without exercises
    is left out.
    """
    contents, order = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8")), {}
    for part in contents["parts"]:
        for number, page in enumerate(part["chapters"], 1):
            path = root / f"{page['file']}.ipynb"
            if not path.exists():
                continue
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            tags = [tag for cell in cells for tag in cell["metadata"].get("tags", [])]
            exercises = [tag.removeprefix(TAG) for tag in tags if tag.startswith(TAG)]
            if exercises:
                title = re.search(r"^# (.+)$", "".join(cells[0]["source"]), re.MULTILINE)[1]
                place = str(number) if "numbered" in part else ""
                topic = re.sub(r"^\d+_", "", path.stem)
                order[topic] = {"number": place, "title": title, "notebook": path.stem, "exercises": exercises}
    return order


def as_json(order):
    """The text of the file beside the exercises."""
    return json.dumps(order, indent=1, ensure_ascii=False) + "\n"


def readme_with(order, text, root=ROOT):
    """The README with its table of chapters written anew."""
    rows = ["| Chapter | Room | Exercises |", "|---|---|---|"]
    for topic, chapter in order.items():
        name = f"{chapter['number']} {chapter['title']}".strip() if chapter["number"] else topic.capitalize()
        room = f"[{topic}](attnlib/{topic}/)" if (root / "attnlib" / topic).is_dir() else ""
        ids = " ".join(f"`{id}`" for id in chapter["exercises"])
        rows.append(f"| [{name}](chapters/{chapter['notebook']}.ipynb) | {room} | {ids} |")
    return TABLE.sub(lambda found: "\n".join(rows) + "\n", text)


def up_to_date(root=ROOT):
    """Write both files anew where they differ from the notebooks. Returns the names of those that did."""
    order, changed = book_order(root), []
    readme = root / "README.md"
    for path, text in [
        (root / TARGET.relative_to(ROOT), as_json(order)),
        (readme, readme_with(order, readme.read_text(encoding="utf-8"), root)),
    ]:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(path.name)
    return changed
