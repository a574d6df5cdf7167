"""A letter of the formulas means one thing in the whole book: see the page of notation."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("attnlib", "attnpage", "attnexercises")
PAGES = sorted([
    *ROOT.glob("chapters/*.ipynb"), *ROOT.glob("chapters/**/*.md"),
    *(path for name in PACKAGES for path in ROOT.glob(f"{name}/**/*.py")),
])  # fmt: skip
FORMULA = re.compile(
    r"\$\$(.+?)\$\$|(?<!\\)\$([^$\n]+?)\$|\.\. math::([^\n]*\n(?:(?: {8,}[^\n]*)?\n)*)|:math:`([^`]+)`", re.S
)
WORDS = re.compile(r"\\(?:text|operatorname|mathrm|mathit|tag|mathbf)\*?\{[^{}]*\}|\\mathcal *[A-Z]|\\[A-Za-z]+")
MAXIMUM = re.compile(r"(?<![A-Za-z])m(?:_\w)?'|\^\{[^{}]*-\s*m(?![A-Za-z])|(?<![A-Za-z])m(?:_\w)?\s*&?=\s*(?=\\max)")
VECTOR = re.compile(r"(?<![A-Za-z_{])[qk](?=_|\s*\\cdot)|\\cdot\s*[qk](?![A-Za-z])|\|[qk](?:\||-[qk]\|)")
FUNCTION = re.compile(r"(?<![A-Za-z])[AH]\s*\(")  # attention is O(Q, K, V), and the entropy has no letter
BOLD = re.compile(r"\\mathbf *\{?[A-Za-z]\}?")  # one query, one key: a vector, not a place
ONLY_WITH = {  # a letter, as it stands in a formula, and what its section then has to speak of
    "T": "temperature", "s": r"\\mu", "A(?!_)": "array|matri|factor", "H": "heads",
    "C": "context|looked at|looks at|both inputs",
}  # fmt: skip
SIZE = re.compile(r"(?:q ?· ?k|q *\\cdot *k)\$? (?:numbers|scores|weights|values|entries|pairs)")


def letters_used_twice(text):
    """What a text says with a letter that means something else: a list of formulas or words."""
    found = [hit[0] for hit in SIZE.finditer(text)]
    for section in re.split(r"^(?=##? )", text, flags=re.M):
        for formula in ("".join(filter(None, groups)) for groups in FORMULA.findall(section)):
            if VECTOR.search(BOLD.sub(" ", formula)):
                found.append(formula.strip())
            bare = WORDS.sub(lambda word: word[0] if word[0] == r"\max" else " ", formula)
            alone = (
                re.search(f"(?<![A-Za-z]){letter}(?![A-Za-z])", bare) and not re.search(words, section.lower())
                for letter, words in ONLY_WITH.items()
            )
            if MAXIMUM.search(bare) or FUNCTION.search(bare) or any(alone):
                found.append(formula.strip())
    return found


def text_of(path):
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_letter_means_one_thing(path):
    assert letters_used_twice(text_of(path)) == []


@pytest.mark.parametrize(
    "text",
    [
        r"a set $T$ of keys", r"$\sum_{j\in T} x_j$", "$$\nT = QK^\\top\n$$", r"$T_q=\lceil q/B_q\rceil$",
        r"$e^{x - m}$", r"$$m' = \max(m, x)$$", r"$m_q = \max_k S_{qk}$", r".. math:: e^{x_j - m}", "holds q·k numbers",
        "## Temperature\n\nA temperature $T$.\n\n## Scores\n\nRaw scores $T$.", r":math:`T_k`", r"$q\cdot k$",
        r"$\sum_i q_i k_i$", r"$|q|^2/d$", r"$e^{-|q-k|^2}$",
        r"The entropy $H = -\sum_i p_i \log p_i$.", r"$H(p)$ of all heads",
        r"The state $H_i = H_{i-1} + \varphi(K_i)^\top V_i$.",
        "The output $A(Q,K,V)$ of an array.", "The attention is $A$.", r"$C = c\,W^EW^Q$ for two heads",
        "Scores $s_{qk}$.", r"$y = c\,\tanh(s/c)$",
        ".. math:: s = 1\n\nThe maximum is $\\mu$.\n\n## Scores\n\nA score $s$.",
    ],
)  # fmt: skip
def test_a_second_meaning_is_found(text):
    assert len(letters_used_twice(text + "\n")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "The temperature is $T$.", r"$QK^\top$", r"$e^{x-\mu}$", r"$\mu' = \max(\mu, x)$", r"$X$ of width $m$",
        r"$m\sigma^2$", r"$\text{T}$", r"`(m, h·d)`",
        r"$\mathbf q\cdot\mathbf k$, $\mathbf q_i\mathbf k_i$, $|\mathbf q-\mathbf k|^2$",
        r"$c\,Q_q\cdot u$, $k\,d$, $|q + o - k|$, $N_q\,k(d+v)$, $\sum_k P_{qk}$", r"$\Sigma_q\Sigma_k$",
        r"A turn $A_p$, an array $A$.", "The heads side by side: $H$.", "The tokens that are looked at, $C$.",
        r"$s$ and $\mu$", r"The tile $\mathcal C$", r"$V_{\mathcal C}$", r"$O(Q,K,V)$",
        "It costs $5 and\n$6, for T.", r"$1/\sqrt m$", "`x.T`",
    ],
)  # fmt: skip
def test_one_meaning_is_left_alone(text):
    assert letters_used_twice(text) == []
