"""A number in the text of a notebook has to be one that the notebook prints."""

import re

NUMBER = re.compile(r"(?<![\w.])(\d+\.\d{2,})(?!\.?\d)")  # at least two decimals; not a version such as 1.22.3
NOT_PROSE = [  # comments, raw HTML tags, inline code and roles such as {cite:p}`...`, links, addresses, arXiv numbers
    re.compile(r"<!--.*?-->|<[^<>]+>", re.S),
    re.compile(r"(?:\{[\w:-]+\})?(`+).+?\1", re.S),
    re.compile(r"!?\[[^\]]*\]\([^)]*\)"),
    re.compile(r"https?://\S+|\b(?:arXiv|doi)[: ]\S+", re.I),
]


def check_prose(cell, numbers):
    """A number with two or more decimals in the text has to be one that the notebook prints."""
    text = without_code_blocks(cell.source)
    for pattern in NOT_PROSE:
        text = pattern.sub(" ", text)
    return [
        f"the text says {token}, which no output of this notebook shows (print it, or write it as `code`)"
        for token in dict.fromkeys(NUMBER.findall(text))
        if shorten(token) not in numbers
    ]


def without_code_blocks(source):
    """The text without fenced code; the content of directives such as {note} stays."""
    kept, fences = [], []
    for line in source.splitlines():
        fence = re.match(r"\s*(`{3,}|~{3,}|:{3,})\s*(\S*)", line)
        if fence and fences and not fence[2] and fence[1].startswith(fences[-1][0]):
            fences.pop()
        elif fence and not (fences and fences[-1][1]):
            is_code = fence[1][0] != ":" and not fence[2].startswith("{") or fence[2].startswith("{code")
            fences.append((fence[1], is_code))
        elif not (fences and fences[-1][1]):
            kept.append(line)
    return "\n".join(kept)


def printed_numbers(notebook):
    """All decimal numbers in text outputs, without trailing zeros."""
    text = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            text.append(output.get("text", ""))
            text += [value for kind, value in output.get("data", {}).items() if kind.startswith("text/")]
    return {shorten(token) for token in re.findall(r"(?<![\d.])\d+\.\d*", "\n".join(text))}


def shorten(number):
    return number.rstrip("0").rstrip(".")
