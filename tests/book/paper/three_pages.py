"""Three pages of the book, one of them a chapter with some of its sections, as a site that prints in seconds."""

import re

CHAPTER, TITLE = "chapters/03_gradients", "3. Derive the backward pass and catch a planted mistake"
# Pictures, a figure with steps, tables, formulas, an exercise and predictions
SECTIONS = ["the-question", "five-gradients-one-of-them-right", "something-learns", "recap"]
RUNNING = "Run the cells in your browser"
PRINTED = [CHAPTER, "chapters/exercises", "chapters/running"]


def shortened(page):
    """A page with some of its sections, and the ids that went with the others."""
    article = page.index("<article")
    depth, since, kept, gone = 0, 0, "", ""
    for tag in re.compile(r"<section\b[^>]*>|</section>").finditer(page, article):
        if tag[0] != "</section>":
            depth += 1
            if depth == 2:
                kept, since = kept + page[since : tag.start()], tag.start()
        else:
            depth -= 1
            if depth == 1:
                section = page[since : tag.end()]
                if re.match(r'<section id="([^"]*)"', section)[1] in SECTIONS:
                    kept += section
                else:
                    gone += section
                since = tag.end()
    return kept + page[since:], set(re.findall(r'\bid="([^"]*)"', gone))


def counted(said):
    """The numbers in the line that the command prints in the end."""
    return {name: int(number) for number, name in re.findall(r"(\d+) ([a-z][a-z ]*),", said)}
