"""attnlib.pretrained.safetensors: what is read is what was written, and every damage has its sentence."""

import json
import re
import tracemalloc

import numpy as np
import pytest
from pretrained_cases import SMALL

from attnlib.pretrained import read_safetensors, write_safetensors
from attnlib.pretrained.arrays import expected_shapes
from attnlib.pretrained.config import read_config
from attnlib.pretrained.safetensors import DTYPES

ARRAYS = {"gain": np.arange(3, dtype=np.float32), "ids": np.arange(4).reshape(2, 2), "none": np.empty((0, 5), np.float16), "one": np.float64(7.0)}


def written(path, header, data=b"", length=None):
    """A file with any header, also a wrong one."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "small.safetensors"


@pytest.mark.parametrize("kind", DTYPES.values())
def test_what_is_read_is_what_was_written(path, kind):
    arrays = ARRAYS | {"more": np.arange(6).astype(kind).reshape(1, 2, 3)}
    write_safetensors(path, arrays)
    found = read_safetensors(path)
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)
    assert not found["gain"].flags.writeable


def test_numbers_begin_at_a_multiple_of_eight_bytes(path):
    write_safetensors(path, {"a" * 3: np.ones(2)})
    assert int.from_bytes(path.read_bytes()[:8], "little") % 8 == 0


def test_a_file_of_the_official_library():
    found = read_safetensors(SMALL / "model.safetensors")
    shapes = expected_shapes(read_config(SMALL / "config.json")[0])
    assert {name: array.shape for name, array in found.items()} == shapes | {"pooler.dense.weight": (12, 12), "pooler.dense.bias": (12,)}
    assert {array.dtype for array in found.values()} == {np.dtype("<f4")}


def test_an_order_other_than_that_of_the_bytes(path):
    header = {"late": entry(offsets=(8, 16)), "__metadata__": {"format": "np"}, "early": entry()}
    found = read_safetensors(written(path, header, np.arange(4, dtype="<f4").tobytes()))
    assert found["early"].tolist() == [0, 1] and found["late"].tolist() == [2, 3]


def test_a_file_cut_off_anywhere_is_damaged(path, tmp_path):
    write_safetensors(path, ARRAYS)
    whole = path.read_bytes()
    for size in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"^read_safetensors: .*cut is damaged: [^\n]+\.$"):
            read_safetensors(tmp_path / "cut")
    (tmp_path / "longer").write_bytes(whole + b"\0")
    with pytest.raises(ValueError, match="its arrays end at byte 52, and the file at byte 53"):
        read_safetensors(tmp_path / "longer")


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 10**9, 100])
def test_an_absurd_header_length_reads_nothing(path, length):
    written(path, {"a": entry()}, bytes(8), length)
    tracemalloc.start()
    with pytest.raises(ValueError, match=f"is damaged: its header should have {length} bytes, and "):
        read_safetensors(path)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"{", "its header is not a JSON object with different names"),
        (b"\xff\xfe", "its header is not a JSON object with different names"),
        (b"[" * 100_000, "its header is not a JSON object with different names"),
        (b"[1]", "its header is not a JSON object with different names"),
        (b'{"a": 1, "a": 2}', "(a name stands there twice)"),
        ({"a": 3}, "the header does not give a a dtype, a shape and two offsets"),
        ({"a": {"dtype": "F32", "shape": [2]}}, "the header does not give a a dtype, a shape and two offsets"),
        ({"a": entry(shape=(-2,))}, "the header does not give a a dtype, a shape and two offsets"),
        ({"a": entry(shape=(2.0,))}, "the header does not give a a dtype, a shape and two offsets"),
        ({"a": entry(offsets=(0, 8, 9))}, "the header does not give a a dtype, a shape and two offsets"),
        ({"a": entry(shape=("2",))}, "the header does not give a a dtype, a shape and two offsets"),
        ({"a": entry() | {"shape": {}}}, "the header does not give a a dtype, a shape and two offsets"),
        ({"a": entry(shape=(0, 2**70), offsets=(0, 0))}, "a has a shape that no array can have"),
        ({"a": entry(shape=(2, *[1] * 70))}, "a has a shape that no array can have"),
        ({"a": entry(dtype=["F32"])}, "the header does not give a a dtype, a shape and two offsets"),
        ({"a": entry(shape=(3,))}, "a (3,) does not fit its bytes 0 to 8"),
        ({"a": entry(shape=(2**62, 2**62))}, "does not fit its bytes 0 to 8"),
        ({"a": entry(dtype="F64")}, "a (2,) does not fit its bytes 0 to 8"),
        ({"a": entry(offsets=(8, 16))}, "does not fit its bytes 8 to 16, or they are cut off"),
        ({"a": entry(), "b": entry(shape=(1,), offsets=(4, 8))}, "b begins at byte 4, and the array before it ends at 8"),
        ({"a": entry(shape=(1,), offsets=(0, 4))}, "its arrays end at byte 4, and the file at byte 8"),
        ({"b": entry(shape=(1,), offsets=(4, 8))}, "b begins at byte 4, and the array before it ends at 0"),
    ],
)  # fmt: skip
def test_a_wrong_header_has_its_sentence(path, header, words):
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        read_safetensors(written(path, header, bytes(8)))
    assert str(error.value).startswith(f"read_safetensors: {path} is damaged: ") and "\n" not in str(error.value)


def test_a_dtype_that_numpy_does_not_have_is_named(path):
    with pytest.raises(ValueError, match=re.escape("holds a as 'BF16'; known are F64, F32, F16")):
        read_safetensors(written(path, {"a": entry(dtype="BF16", shape=(4,))}, bytes(8)))


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^read_safetensors: there is no file .*none\.$"):
        read_safetensors(tmp_path / "none")


@pytest.mark.parametrize("arrays", [[1], {1: np.ones(1)}, {"a": np.ones(2, complex)}, {"a": np.array(["text"])}, {"a": np.ones(2, bool)}])
def test_what_cannot_be_written(path, arrays):
    with pytest.raises(TypeError, match=r"^write_safetensors: "):
        write_safetensors(path, arrays)
    assert not path.exists()
