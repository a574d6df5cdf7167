"""A letter of the formulas means one thing in the whole book: see the page of notation."""

from pathlib import Path

import nbformat
import pytest
from letters import letters_used_twice

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("attnlib", "attnpage", "attnexercises")
PAGES = sorted([
    *ROOT.glob("chapters/*.ipynb"), *ROOT.glob("chapters/**/*.md"),
    *(path for name in PACKAGES for path in ROOT.glob(f"{name}/**/*.py")),
])  # fmt: skip


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
