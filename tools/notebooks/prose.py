"""The text of a notebook: every notebook program can show it, and its numbers are ones that the notebook prints."""

import re

NUMBER = re.compile(r"(?<![\w.])(\d+\.\d{2,})(?!\.?\d)")  # at least two decimals; not a version such as 1.22.3
NOT_PROSE = [  # blocks of code, comments, raw HTML tags, wrong predictions, inline code, links, the numbers of formulas, addresses, arXiv numbers
    re.compile(r"^\s*(`{3,}|~{3,}).*?^\s*\1", re.S | re.M),
    re.compile(r"<!--.*?-->|<[^<>]+>", re.S),
    re.compile(r"^\* \*\*[-−\d.]+\*\*", re.M),  # a number that people predict and no cell prints
    re.compile(r"(`+).+?\1", re.S),
    re.compile(r"\\tag\{[\d.]+\}"),
    re.compile(r"!?\[[^\]]*\]\([^)]*\)"),
    re.compile(r"https?://\S+|\b(?:arXiv|doi)[: ]\S+", re.I),
]
# What the site understands and JupyterLab, VS Code or GitHub show as it stands, or not at all.
FOR_THE_SITE_ONLY = {
    "a label": re.compile(r"^\([\w-]+\)=\s*$", re.M),
    "the label of a formula": re.compile(r"\$\$ *\([\w-]+\)"),
    "a role": re.compile(r"\{[\w:-]+\}`[^`]*`"),
    "a directive": re.compile(r"^\s*(?:`{3,}|:{3,})\{.*", re.M),
    "a drawing": re.compile(r"<(?:svg|figure)\b"),
}


def check_plain(cell):
    """The forms that a notebook uses instead, and what becomes of them, are in book/plain_markdown."""
    hits = {what: pattern.search(cell.source) for what, pattern in FOR_THE_SITE_ONLY.items()}
    return [
        f"{what} that only the site can show: {hit[0].strip()}; see book/plain_markdown"
        for what, hit in hits.items()
        if hit
    ]


def check_prose(cell, numbers):
    """A number with two or more decimals in the text has to be one that the notebook prints."""
    text = cell.source
    for pattern in NOT_PROSE:
        text = pattern.sub(" ", text)
    return [
        f"the text says {token}, which no output of this notebook shows (print it, or write it as `code`)"
        for token in dict.fromkeys(NUMBER.findall(text))
        if shorten(token) not in numbers
    ]


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
