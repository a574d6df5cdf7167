"""Add a function to the reader's file, or remove one. The new text is tried before the file is written."""

import builtins
import importlib
import os
import sys

from attnexercises.own_library import definitions, on_disk
from attnexercises.own_library.accepted import CannotSave, accepted, changed_since, remember
from attnexercises.own_library.on_disk import Changed, Unusable
from attnexercises.own_library.run import Library, functions


def offer(exercise, answer):
    """Remember an answer that has just passed, and return a line on how to save it, or ""."""
    if exercise.value:
        return ""
    remember(exercise.id, answer)
    path = on_disk.location()
    if path is None:
        return ""
    kept, another = False, False
    try:
        text, pieces = on_disk.read(path).text, accepted(exercise.id).pieces
        another = exercise.id in definitions.defined(text)
        kept = bool(pieces) and _put_in(text, exercise.id, pieces, path.name)[0] == text
    except (Unusable, CannotSave):
        pass  # `save` tells the reader why
    if kept:
        return f"    {path.name} has it."
    if another:
        return f'    {path.name} has another one. To keep this one instead: save("{exercise.id}")'
    return f'    To keep it in {path.name}: save("{exercise.id}")'


def remove(id):
    """Remove a function, or the whole file, and keep a copy of the file. Return a sentence on what was done."""
    path = on_disk.location()
    try:
        if id is None:
            return f"{path.name} is {on_disk.set_aside(path)} now."
        while True:
            before = on_disk.read(path)
            try:
                after = definitions.without(before.text, id)
            except KeyError:
                return f"{path.name} is as it was: its {id} was written by hand."
            users = _newly_failing(before.text, after, path.name, [id])
            if users:
                return f"{path.name} is as it was: {users[0]} in it uses {id}."
            if Library(after, path.name).trouble and not Library(before.text, path.name).trouble:
                return f"{path.name} is as it was: something that you have written there uses {id}."
            try:
                copy = on_disk.write(path, before, after, keep_copy=True)
            except Changed:
                continue
            _import_afresh(path)
            return f"{id} is taken out of {path.name}; the file with it is {copy}."
    except Unusable as error:
        return str(error)


def put(exercise, path):
    """Write one accepted function into the file. Return a sentence on what was done."""
    id, answer = exercise.id, accepted(exercise.id)
    if exercise.value:
        raise CannotSave("Its answer is a value; only functions are saved.")
    if answer is None:
        raise CannotSave("It has not passed in this session: run its cell again first.")
    if answer.problem:
        raise CannotSave(answer.problem)
    while True:
        before = on_disk.read(path)
        after, written, used = _put_in(before.text, id, answer.pieces, path.name)
        if after == before.text:
            return f"Nothing new: {path.name} has this {id}."
        old = definitions.defined(before.text)
        replaced = [name for name in written if name in old]
        _try_from_file(id, before.text, after, path.name, replaced or vars(builtins).keys() & set(written))
        try:
            copy = on_disk.write(path, before, after, keep_copy=bool(replaced))
            break
        except Changed:
            continue
    _import_afresh(path)
    said = f"Saved: {id}"
    helpers = [name for name in written if name != id]
    if helpers:
        said += f" with {', '.join(helpers)}"
    said += f", in {path.name}" + (f", a new file in the folder {path.parent.name}." if before.data is None else ".")
    if used:
        said += f" It uses the {', '.join(used)} that {'is' if len(used) == 1 else 'are'} there."
    if copy:
        said += f" The file as it was before is {copy}."
    if changed_since(id):
        said += f" (The {id} of the notebook is another one by now; saved is the one that passed.)"
    return said


def _put_in(text, id, pieces, file):
    """Return the new text, the names written into it, and the names already in the text that the function uses."""
    there = definitions.defined(text)
    exercises = [exercise.id for exercise in functions()]
    written, used, seen = [], [], set()

    def visit(name):
        nonlocal text
        piece = pieces[name]
        if name in seen:
            return
        seen.add(name)
        if name != id and name in there and (name in exercises or piece.lacking):
            used.append(name)
            return
        if piece.lacking:
            raise CannotSave(_what_is_lacking(piece, id, file, exercises))
        for need in piece.needs:
            visit(need)
        if piece.code:
            try:
                new = definitions.with_piece(text, name, piece.code, above=id, replace=name == id)
            except KeyError:
                raise CannotSave(f"{file} has another `{name}`, written by hand: rename one of the two.") from None
            if new != text and not piece.code.startswith(("import ", "from ")):
                written.append(name)
            text = new

    visit(id)
    return text, written, used


def _what_is_lacking(piece, id, file, exercises):
    said = f"`{piece.name}` in it {piece.lacking}"
    if not piece.lacking.startswith(("comes from", "is the module")):
        return f"{said}: write it inside the function."
    if piece.name in exercises and piece.name != id:
        return f"{said}, but {file} is to need NumPy alone. Save your own {piece.name} first."
    return f"{said}, but {file} is to need NumPy alone. Write it out instead."


def _try_from_file(id, before, after, file, others):
    """Raise `CannotSave` if the function does not pass in the new text, or if another one no longer passes."""
    new = Library(after, file)
    if new.trouble:
        raise CannotSave(Library(before, file).trouble or f"With it, {new.trouble}")
    if not new.passes(id):
        raise CannotSave(f"It passed in the notebook but does not from the file: {_sentence(new, id)}")
    broken = _newly_failing(before, after, file, [id]) if others else []
    if broken:
        raise CannotSave(f"With it, {broken[0]} in {file} would not pass any more: {_sentence(new, broken[0])}")


def _newly_failing(before, after, file, apart_from):
    """The ids of the functions that pass in the text `before`, but not in the text `after`."""
    old, new = Library(before, file), Library(after, file)
    return [i for i in old.ids if i not in apart_from and not new.passes(i) and old.passes(i)]


def _sentence(mine, id):
    return mine.result(id).lines[0].partition(": ")[2]


def _import_afresh(path):
    """Make the next ``import my_attention`` read the new file."""
    module = sys.modules.get(path.stem)
    if os.path.realpath(getattr(module, "__file__", None) or "") == str(path):
        del sys.modules[path.stem]
    importlib.invalidate_caches()
