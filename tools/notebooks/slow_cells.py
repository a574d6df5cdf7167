"""Cells that need what a slow cell makes: "Run this page" leaves the slow one out, so they must be left out with it."""

import symtable


def slow(cell):
    return any(tag.startswith("slow-") for tag in cell.metadata.get("tags", []))


def needs_slow(notebook):
    """By the id of a cell that runs where a name has not been made yet: the sentence that says so, in a list."""
    missing, found = {}, {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        try:
            made, needed = names(cell.source)
        except SyntaxError:  # the run says it
            continue
        if slow(cell):
            missing.update(dict.fromkeys(made, cell.id))
            continue
        for name in sorted(needed & set(missing)):
            found.setdefault(cell.id, [f"needs {name!r} of the slow cell {missing[name]!r}, but is not tagged slow itself"])
        for name in made:
            missing.pop(name, None)
    return found


def names(source):
    """Names that a cell makes, and those that only cells before it can have made."""
    top = symtable.symtable(source, "<cell>", "exec")
    made = {name.get_name() for name in top.get_symbols() if name.is_assigned() or name.is_imported()}
    return made, {name for table in tables(top) for name in spoken_of(table)} - made


def tables(table):
    return [table] + [inner for child in table.get_children() for inner in tables(child)]


def spoken_of(table):
    outer = table.get_type() == "module"
    return {name.get_name() for name in table.get_symbols() if name.is_referenced() and (outer or name.is_global())}
