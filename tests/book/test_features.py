"""The folders of the site's features: each is set up, each style and script in it is used, and its tests have its name."""

from pathlib import Path

import pytest

import book

HERE = Path(book.__file__).parent
TESTS = Path(__file__).parent
FOLDERS = sorted(path.parent.name for path in HERE.glob("*/__init__.py"))
OF_NO_FEATURE = {"chapters"}  # what the pages say, whatever they are made with


def test_every_folder_is_a_feature_that_is_set_up():
    assert sorted(book.FEATURES) == sorted(set(FOLDERS) - {"cache"})  # which the features that need it set up


@pytest.mark.parametrize("name", FOLDERS)
def test_every_style_script_and_template_is_named_by_the_feature(name):
    said = "".join(path.read_text(encoding="utf-8") for path in (HERE / name).glob("*.py"))
    files = [path.name for kind in ("css", "js", "html") for path in (HERE / name).glob(f"*.{kind}")]
    assert [file for file in files if f'"{file}"' not in said] == []


def test_the_table_for_contributors_names_every_feature():
    text = (HERE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("Where in `book/`")[2].partition("\n\n")[0]
    missing = [name for name in FOLDERS if f"`{name}`" not in table]
    assert not missing, f"the table of CONTRIBUTING.md, Where in book/, does not name {missing}"


def test_a_folder_of_tests_has_the_name_of_its_feature():
    folders = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert folders - set(FOLDERS) == OF_NO_FEATURE
