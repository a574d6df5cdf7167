"""Turn every section of the book into a vector with the trained model, for the search in chapter 13. Run by hand:

    python -m tools.recorded.sections

It reads the model of `make model` and writes chapters/data/sections.npz: `chapter` and `heading` (sections,) as a reader
sees them, and `vectors` (sections, m) in float16. Run it again when chapters have changed much.
"""

import json
import re
from pathlib import Path

import numpy as np

from attnlib.pretrained import load_pretrained
from tools.recorded.prose import OUT

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "chapters" / "data" / "sections.npz"
HEADING = re.compile(r"^#{2,3} (.+)$", re.M)
EVERYWHERE = {"The question", "Quick check", "Recap", "Your own library", "Further"}  # says nothing about the chapter


def sections(notebook):
    """Yield the heading and the text of each section of a chapter."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    text = re.sub(r"<details.*?</details>", " ", text, flags=re.S)  # answers
    parts = HEADING.split(text)[1:]
    for heading, body in zip(parts[::2], parts[1::2], strict=True):
        if heading not in EVERYWHERE and not heading.startswith("Exercise"):
            yield plain(heading), plain(body)


def plain(markdown):
    """The words, without formulas, links and marks."""
    for pattern, instead in OUT:
        markdown = pattern.sub(instead, markdown)
    return re.sub(r"\s+", " ", re.sub(r"[*_#]", "", markdown)).strip()


def main():
    model = load_pretrained(ROOT / "_vendor" / "minilm")
    chapters, headings, texts = [], [], []
    for path in sorted((ROOT / "chapters").glob("[01][0-9]_*.ipynb")):
        if path.stem < "13":
            for heading, body in sections(path):
                chapters.append(int(path.stem[:2]))
                headings.append(heading)
                texts.append(f"{heading}. {body}")
    vectors = model.embed(texts).astype(np.float16)
    np.savez_compressed(TARGET, chapter=np.array(chapters, np.int8), heading=np.array(headings), vectors=vectors)
    print(f"{TARGET.name}: {len(texts)} sections, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
