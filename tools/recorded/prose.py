"""Record the book's own prose as a text to learn from, for chapter 12. Run by hand:

    python -m tools.recorded.prose

It writes chapters/data/prose.txt: what chapters 1 to 11 say in words, without formulas, code and marks, in small letters.
The file is recorded and not made anew, so that a model trained on it stays the same when a chapter is edited.
"""

import json
import re
from pathlib import Path

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
TARGET = CHAPTERS / "data" / "prose.txt"
SHORTEST = 60  # characters of a paragraph: less is a heading or the entry of a table
# What is left out whole, and what stands in its place.
OUT = [
    (re.compile(r"\$\$.*?\$\$|```.*?```|<[^>]*>", re.S), " "),
    (re.compile(r"\$[^$]*\$|`[^`]*`"), "x"),  # a formula or a name in the middle of a sentence
    (re.compile(r"\[\[[^\]]*\]\]\([^)]*\)"), ""),  # a citation
    (re.compile(r"\[([^\[\]]*)\[\w+\]\]\([^)]*\)"), r"\1"),  # a citation whose author belongs to the sentence
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"^\|.*$|^[*\d.\s]*\*\*[A-E]\.?\*\*", re.M), ""),  # a row of a table, the letter of an option
]
# A number or a sign was here: the sentence cannot be read any more.
TORN = re.compile(r"[,.] ?[,.]|\b[b-hj-wyz]\b")


def paragraphs(markdown):
    """The longer paragraphs, each in one line of the letters a to z, spaces, commas and full stops."""
    for pattern, instead in OUT:
        markdown = pattern.sub(instead, markdown)
    for line in markdown.splitlines():
        line = re.sub(r"[^a-z ,.]+", " ", re.sub(r"['’*_]", "", line.lower()))
        line = re.sub(r"\s+([,.])", r"\1", re.sub(r"\s+", " ", line)).strip(" ,")
        if len(line) >= SHORTEST and not TORN.search(line):
            yield line


def main():
    lines = []
    for path in sorted(CHAPTERS.glob("[01][0-9]_*.ipynb"))[:11]:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                lines += paragraphs("".join(cell["source"]))
    text = "\n".join(lines) + "\n"
    TARGET.write_text(text, encoding="ascii", newline="\n")
    print(f"{TARGET.name}: {len(text)} characters, {len(set(text))} different ones")


if __name__ == "__main__":
    main()
