"""The elements of a tagged PDF that others name: the heads of tables, which each cell names for a reader who listens.

Chromium calls them by numbers that its window counts up, so that they differ from print to print of the same pages.
Here they are numbered in the order of the document: the same pages give the same bytes.
"""

from itertools import islice

from pypdf.generic import ArrayObject, NameObject, TextStringObject


def renumber(tree):
    """Number the elements of a tree (the `/StructTreeRoot` of a document) that have an id, in their order."""
    found = list(elements(tree))
    named = [element for element in found if "/ID" in element.get_object()]
    new = {element.get_object()["/ID"]: TextStringObject(f"{number:08}") for number, element in enumerate(named, 1)}
    for element in named:
        element.get_object()[NameObject("/ID")] = new[element.get_object()["/ID"]]
    for element in found:
        attributes = element.get_object().get("/A", [])
        for each in attributes if isinstance(attributes, list) else [attributes]:
            if "/Headers" in each.get_object():
                heads = each.get_object()["/Headers"]
                each.get_object()[NameObject("/Headers")] = ArrayObject(new[head] for head in heads)
    if named:
        fill(tree["/IDTree"], iter([part for element in named for part in (element.get_object()["/ID"], element)]))


def elements(node):
    """The elements below a node, as references, each before those below it."""
    below = node.get("/K", [])
    for each in below if isinstance(below, list) else [below]:
        element = each.get_object()
        if isinstance(element, dict) and element.get("/Type") == "/StructElem":
            yield each
            yield from elements(element)


def fill(node, pairs):
    """Write the ids, each followed by its element, into a tree of names in their order. Returns the first and the last."""
    if "/Kids" in node:
        ends = [fill(kid.get_object(), pairs) for kid in node["/Kids"]]
        limits = [ends[0][0], ends[-1][1]]
    else:
        names = list(islice(pairs, len(node["/Names"])))
        node[NameObject("/Names")] = ArrayObject(names)
        limits = [names[0], names[-2]]
    if "/Limits" in node:
        node[NameObject("/Limits")] = ArrayObject(limits)
    return limits
