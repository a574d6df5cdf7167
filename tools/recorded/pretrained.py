"""Record what `transformers` makes of the trained model, and of a very small one. Run by hand, where torch, transformers
and tokenizers are installed, after `make model`:

    python -m tools.recorded.pretrained

It writes three things; `about` in each file says what the arrays are.

* chapters/data/minilm.npz: one sentence, for the last chapter.
* tests/recorded/minilm.npz: several sentences, every layer and every head, alone and padded to one length.
* tests/recorded/small_bert: a model of random weights, in the very files that these libraries write, and in answers.npz
  their answers, so that most of the tests need no trained model.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import tokenizers
import torch
import transformers

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "_vendor" / "minilm"
CHAPTER = ROOT / "chapters" / "data" / "minilm.npz"
TESTS = ROOT / "tests" / "recorded" / "minilm.npz"
SMALL = ROOT / "tests" / "recorded" / "small_bert"
FEATURES = slice(None, None, 24)  # of the 384 of a state: all of them would take megabytes
SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "A sleepy kitten rested on a rug",
    "“Naïve” café!",
    "Unbelievable!",
)
PIECES = "cat sat mat on the a it was tired because ##s ##ing ##ed . , ! ' dog street".split()

ABOUT_CHAPTER = """Made with {versions} by tools/recorded/pretrained.py from all-MiniLM-L6-v2, computed in float64 and
stored in float32. ids (n,): the tokens of `sentence`. states (n, m): after the last layer. weights (layers, h, n, n)."""
ABOUT = """Made with {versions} by tools/recorded/pretrained.py in float64. I/ids (n,): the tokens of sentences[I].
I/states (layers + 1, n, m): `hidden_states`{some}. I/weights (layers, h, n, n): `attentions`.
padded/ids, padded/mask (b, n): all sentences padded on the right. padded/states (b, layers + 1, n, m){some}.
padded/weights (layers, h, 2, n): of the last sentence, its first two rows. vectors (b, m): the means of its last states over what is not padding, of length one.
float32_error: the largest difference of the same library's float32 run, of states and of weights."""


def main():
    torch.set_grad_enabled(False)
    model = transformers.BertModel.from_pretrained(MODEL, attn_implementation="eager").eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    answers = ask(model, tokenizer, SENTENCES)
    arrays = dict(sentence=SENTENCES[0], ids=answers["0/ids"], states=answers["0/states"][-1].astype(np.float32))
    save(CHAPTER, ABOUT_CHAPTER, arrays | dict(weights=answers["0/weights"].astype(np.float32)))
    cut = {key: array[..., FEATURES] if key.endswith("/states") else array for key, array in answers.items()}
    save(TESTS, ABOUT.replace("{some}", ", every 24th feature"), cut)
    make_small()
    model = transformers.BertModel.from_pretrained(SMALL, attn_implementation="eager").eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(SMALL / "tokenizer.json"))
    texts = ("The cat sat on the mat because it was tired.", "Dogs, dogs!", "")
    save(SMALL / "answers.npz", ABOUT.replace("{some}", ""), ask(model, tokenizer, texts))


def ask(model, tokenizer, texts):
    """The answers of the library, by the names that `ABOUT` gives them."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids = [tokenizer.encode(text).ids for text in texts]
    answers, errors = {"sentences": np.array(texts)}, np.zeros(2)
    for number, each in enumerate(ids):
        exact, rounded = (run(model.to(dtype), torch.tensor([each])) for dtype in (torch.float64, torch.float32))
        errors = np.maximum(errors, [abs(a - b).max() for a, b in zip(exact, rounded, strict=True)])
        answers |= {f"{number}/ids": np.array(each), f"{number}/states": exact[0][0], f"{number}/weights": exact[1][0]}
    longest = max(map(len, ids))
    padded = torch.tensor([each + [0] * (longest - len(each)) for each in ids])
    mask = torch.tensor([[1] * len(each) + [0] * (longest - len(each)) for each in ids])
    states, weights = run(model.to(torch.float64), padded, attention_mask=mask)
    real = mask.numpy()[..., np.newaxis]
    mean = (states[:, -1] * real).sum(axis=1) / real.sum(axis=1)
    answers |= {"padded/ids": padded.numpy(), "padded/mask": mask.numpy(), "padded/states": states, "padded/weights": weights[-1, ..., :2, :]}
    return answers | {"vectors": mean / np.linalg.norm(mean, axis=-1, keepdims=True), "float32_error": errors}


def run(model, ids, **options):
    """The states (b, layers + 1, n, m) and the weights (b, layers, h, n, n)."""
    out = model(ids, output_hidden_states=True, output_attentions=True, **options)
    return tuple(np.stack([array.numpy() for array in arrays], axis=1) for arrays in (out.hidden_states, out.attentions))


def make_small():
    """A model with random weights, large enough that heads differ, and its vocabulary."""
    torch.manual_seed(0)
    shutil.rmtree(SMALL, ignore_errors=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *PIECES]
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20,
        max_position_embeddings=16, layer_norm_eps=1e-12,
    )  # fmt: skip
    model = transformers.BertModel(config)
    for parameter in model.parameters():  # also what starts at zeros or ones
        parameter.copy_(torch.randn_like(parameter) * (0.7 if parameter.ndim == 2 else 0.3) + (parameter.mean() == 1))
    model.save_pretrained(SMALL)
    tokenizer = tokenizers.BertWordPieceTokenizer({piece: i for i, piece in enumerate(vocabulary)}, lowercase=True)
    tokenizer.save(str(SMALL / "tokenizer.json"))


def save(path, about, arrays):
    versions = ", ".join(f"{each.__name__} {each.__version__}" for each in (torch, transformers, tokenizers))
    np.savez_compressed(path, about=about.replace("{versions}", versions), **arrays)
    print(json.dumps({path.name: path.stat().st_size}), arrays.get("float32_error"))


if __name__ == "__main__":
    main()
