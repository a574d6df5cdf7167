"""The places of a page that a search can find: its sections, the terms of the glossary, the names of the library.

Read from the finished page, so that a result says what the reader will see. Code, outputs and what is folded are left
out; of an output only the caption stays. A formula becomes letters (``P_ij``) if these can be read in a line, else "…".
"""

import re
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
SILENT = re.compile(r"<(script|style|svg|pre|button|nav|noscript|mjx-math)\b.*?</\1>", re.DOTALL)  # none holds its like
LEFT_OUT = {"headerlink", "viewcode-link", "caption-number", "cell", "answer", "exercise-helps", "chapter-cards"}
LEFT_OUT |= {"predict-all", "toctree-wrapper"}
FIGURES = {"caption", "figcaption"}  # prose, also in an output
TWO_STOREYS = {"mfrac", "msqrt", "mroot", "mtable", "munder", "mover", "munderover", "msubsup"}
SCRIPTS = {"msub": "_", "msup": "^"}
LONGEST_FORMULA = 16  # letters


class Places(HTMLParser):
    """After `feed`: `places`, each a list of anchor, heading and text; the first is the page itself."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.places, self.open = [], []  # open elements: tag, whether left out, the place before, children so far, start of a script
        self.place, self.formula = None, None
        self.in_heading = False
        self.feed(SILENT.sub(" ", text))
        self.places = [[anchor, clean(heading), clean(text)] for anchor, heading, text in self.places]
        for number, place in reversed(list(enumerate(self.places[:-1]))):  # a heading without words of its own
            place[2] = place[2] or self.places[number + 1][2]

    @property
    def left_out(self):
        return bool(self.open) and self.open[-1][1]

    def handle_starttag(self, tag, attributes):
        if tag in VOID:
            return
        attributes = dict(attributes)
        classes = set((attributes.get("class") or "").split())
        left_out = (self.left_out or bool(classes & LEFT_OUT)) and tag not in FIGURES
        script = self.formula is not None and self.begin_part(tag)
        self.open.append([tag, left_out, self.place, 0, script])
        anchor = attributes.get("id")
        if tag == "section" and anchor:
            self.begin(anchor)
        elif tag == "dt" and anchor:
            self.begin(anchor)  # up to the next term or the end of the list
            if "sig" in classes:
                self.place[1] = anchor
                self.open[-1][1] = True
        elif tag == "math":
            self.formula = ""
        if tag in HEADINGS or tag == "dt" and anchor:
            self.in_heading = True

    def begin(self, anchor):
        self.place = [anchor, "", ""]
        self.places.append(self.place)

    def begin_part(self, tag):
        """A part of a formula begins. Returns where, if it is a sub- or superscript."""
        parent = self.open[-1]
        parent[3] += 1
        if tag in TWO_STOREYS:
            self.formula += " " * LONGEST_FORMULA  # too long: it will become "…"
        if parent[0] not in SCRIPTS or parent[3] != 2:
            return None
        self.formula += SCRIPTS[parent[0]]
        return len(self.formula)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        while tag in (name for name, *_ in self.open):  # some end tags may be missing in HTML
            closed, _, before, _, script = self.open.pop()
            if closed == tag:
                break
        else:
            return
        if script and len(self.formula) > script + 1 and not self.formula[script:].isalnum():
            self.formula = f"{self.formula[:script]}({self.formula[script:]})"
        if tag == "math":
            letters, self.formula = self.formula.replace("\u2061", ""), None
            self.add(letters if len(letters) <= LONGEST_FORMULA else "…")
        if tag in HEADINGS or tag == "dt":
            self.in_heading = False
        if tag in ("section", "dl"):
            self.place = before
        if tag == "p" and self.place and self.place[2][-1:].isalnum():
            self.add(".")  # "Easy · 10 minutes" is a line of its own
        if tag in ("p", "li", "dd", "td", "th", "dt", "figcaption", "caption", "div"):
            self.add(" ")

    def handle_data(self, data):
        if self.formula is not None:
            self.formula += data.strip()
        else:
            self.add(data)

    def add(self, text):
        if self.place is not None and not self.left_out:
            self.place[1 if self.in_heading else 2] += text


def clean(text):
    return re.sub(r" ([.,;:)])", r"\1", re.sub(r"\s+", " ", text)).strip()
