"""attnexercises.engine.registry: is every exercise found, and what is not there told?"""

import subprocess
import sys

import pytest
from answers import right

from attnexercises import check, grade
from attnexercises.engine import registry


def test_an_unknown_id_gets_a_suggestion():
    with pytest.raises(ValueError, match="There is no exercise 'softmx'. Did you mean 'softmax'?"):
        grade("softmx", right)
    with pytest.raises(ValueError, match="this is the number 3"):
        check(3, right)


def test_an_exercise_without_a_place_in_the_book_is_told(monkeypatch):
    others = [id for id in registry.BOOK_ORDER["masks"]["exercises"] if id != "masked_softmax"]
    monkeypatch.setitem(registry.BOOK_ORDER, "masks", registry.BOOK_ORDER["masks"] | {"exercises": others})
    with pytest.raises(ValueError, match="'masked_softmax', in attnexercises/masks/masked_softmax.py, has no place in the book"):
        registry.of_chapter.__wrapped__("masks")


def test_to_find_an_exercise_only_its_chapter_is_imported():
    code = (
        "import sys; from attnexercises.engine.registry import find; find('softmax'); "
        "print('attnexercises.softmax.forward' in sys.modules, 'attnexercises.flash.forward' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_the_import_needs_numpy_and_the_standard_library_only():
    code = (
        "import sys; import attnexercises as e; e.progress(); "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'IPython', 'matplotlib', 'scipy', 'ctypes'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] in ("[]", "['ctypes']")  # NumPy itself imports ctypes
