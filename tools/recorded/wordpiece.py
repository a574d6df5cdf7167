"""Record what the library `tokenizers` makes of texts of every kind. Run by hand, where it is installed, after `make model`:

    python -m tools.recorded.wordpiece

It writes tests/recorded/wordpiece.npz; `about` in the file says what the arrays are. The texts are stored with the
answers, so neither the library nor the chapters, from which many of them come, are needed to compare.
"""

import json
import re
import unicodedata
from pathlib import Path

import nbformat
import numpy as np
import tokenizers

ROOT = Path(__file__).resolve().parents[2]
TOKENIZER = ROOT / "_vendor" / "minilm" / "tokenizer.json"
TARGET = ROOT / "tests" / "recorded" / "wordpiece.npz"
SHORT = 8
ABOUT = f"""Made with tokenizers {tokenizers.__version__} by tools/recorded/wordpiece.py from the tokenizer of all-MiniLM-L6-v2.
texts: JSON, a list. ids: those of all texts, one after the other. lengths: how many each text has. short_ids, short_lengths:
the same with a limit of {SHORT}. kinds (1114112,): what becomes of each character c in the text a + c + b. 0: it vanishes,
1: it separates, 2: it is a word of its own, 3: it joins, 4: it cannot stand in a text."""
HARD = [
    "", " ", "\n\t", "a", "!", "...", "I", "The cat sat on the mat.", "don't won't it's we've O'Neill rock'n'roll",
    "U.S.A. e.g. i.e. Ph.D. a.m.", "3.14159 1,000,000 1e-12 0x1F $5.99 50% #1 @you", "state-of-the-art — an en–dash, a hyphen‐minus",
    "“curly” ‘quotes’ „low‟ «guillemets» ‹single›", "Zoë naïve café résumé Ångström crème brûlée piñata", "İstanbul ıssız ILIK",
    "ΟΔΟΣ Σίσυφος ΣΑΣ ς", "Straße GROẞ ﬁne ﬂow ﬃ ĳ ŉ", "ｆｕｌｌ　ｗｉｄｔｈ！", "漢字かな交じり文 中文字符 한국어 조선글", "Привет, мир! Ёлка й", "नमस्ते दुनिया ক খ",
    "ا ب ت السلام عليكم", "שלום עולם", "ไทย ภาษา", "😀 👍🏽 👨‍👩‍👧 🇩🇪 ❤️", "zero\u200bwidth \u200djoin\u200cer \ufeffbom soft\u00adhyphen", "nbsp\u00a0here thin\u2009space ideographic\u3000space",
    "line\u2028sep para\u2029sep next\u0085line", "nul\x00l bell\x07 esc\x1b[0m del\x7f \ufffd", "tab\there\r\nnew line\x0bvt\x0cff", "a" * 100, "a" * 101,
    "x" * 99 + "é", "un" * 60, "[CLS] and [SEP] and [MASK] [PAD] [UNK]", "[cls] [Mask] [ MASK ] [MASK][MASK]", "word[SEP]word", "[[SEP]]", "##ing ##s #",
    "unaffable unbelievable antidisestablishmentarianism", "supercalifragilisticexpialidocious", "https://example.org/a?b=c&d=e#f", "me@example.com",
    "x^2 + y_1 = \\frac{1}{2} <b>html</b> `code` ~/path |pipe|", "∑ ∫ √ ≤ ≠ ∞ π × ÷ ± ° ² ³ ½ €£¥§¶†‡•…", "e\u0301 e\u0301\u0323 \u0301alone A\u030aA", "ạ̈ Việt Nam ﷺ", "𝒜𝓁𝑔𝑒𝒷𝓇𝒶 𝟙𝟚𝟛",
    "𠀀𪜀𫝀𫠠𬺰 㐀豈", "ﾊﾝｶｸ ｶﾞ", "Ǆ ǅ ǆ Ǉ", "ᾳ ᾼ ΐ", "\u0130\u0307 i\u0307", "K Å Ω", "\ue000private\uf8ff", "tags\U000e0041\U000e007f",
]  # fmt: skip
BLOCKS = [
    (0x20, 0x7F), (0x80, 0x250), (0x250, 0x370), (0x370, 0x400), (0x400, 0x530), (0x590, 0x600), (0x600, 0x700), (0x900, 0x980), (0xE00, 0xE80),
    (0x1100, 0x1200), (0x1E00, 0x2000), (0x2000, 0x2070), (0x20A0, 0x2150), (0x2200, 0x2300), (0x3000, 0x3100), (0x4E00, 0x4F00), (0xAC00, 0xAD00),
    (0xFF00, 0xFFF0), (0x1D400, 0x1D500),
]  # fmt: skip
ODD = "\u200b\u00ad\u0301\u0308\u00a0\u2019\u201c\u2013\u2026\t\x07éÉßçñüΣ中-'\".,;:!?()[]{}/\\@#$%^&*_+=<>|~`"


def prose():
    """The sentences of the chapters, without code."""
    for path in sorted(ROOT.glob("chapters/*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                yield from (part for part in re.split(r"(?<=[.!?])\s+", cell.source) if 3 <= len(part.split()) <= 40)


def texts(rng):
    """Sentences of the book, the same with odd characters in them, words of one script, and of all, and hard ones by hand."""
    found = sorted(set(prose()))
    chosen = [found[i] for i in rng.choice(len(found), 500, replace=False)]
    spoiled = []
    for text in chosen[:250]:
        for _ in range(3):
            place = rng.integers(len(text) + 1)
            text = text[:place] + ODD[rng.integers(len(ODD))] + text[place:]
        spoiled.append(text.upper() if rng.random() < 0.2 else text)
    known = [[chr(c) for c in range(*block) if oldest(chr(c))] for block in BLOCKS]
    scripts = [word(rng, letters) + " " + word(rng, letters) for letters in known for _ in range(12)]
    mixed = [" ".join(word(rng, known[rng.integers(len(known))]) for _ in range(5)) for _ in range(150)]
    return HARD + chosen + spoiled + scripts + mixed


def word(rng, letters):
    return "".join(letters[i] for i in rng.integers(len(letters), size=rng.integers(1, 9)))


def oldest(character):
    """Whether Unicode 3.2 knew it: of newer characters Python and the library may know different things."""
    return unicodedata.ucd_3_2_0.category(character) != "Cn"


def kinds(tokenizer):
    found = np.full(0x110000, 4, np.uint8)
    for start in range(0, 0x110000, 0x4000):
        codes = [code for code in range(start, start + 0x4000) if not 0xD800 <= code < 0xE000]
        for code, answer in zip(codes, tokenizer.encode_batch([f"a{chr(code)}b" for code in codes], add_special_tokens=False), strict=True):
            parts = len({word for word in answer.word_ids})
            found[code] = {1: 0 if answer.tokens == ["ab"] else 3, 2: 1, 3: 2}[parts]
    return found


def main():
    tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    chosen = texts(np.random.default_rng(30))
    ids = [answer.ids for answer in tokenizer.encode_batch(chosen)]
    kept = kinds(tokenizer)
    tokenizer.enable_truncation(SHORT)
    short = [answer.ids for answer in tokenizer.encode_batch(chosen)]
    arrays = {"ids": np.concatenate(ids).astype(np.uint16), "lengths": np.array([*map(len, ids)], np.uint16)}
    arrays |= {"short_ids": np.concatenate(short).astype(np.uint16), "short_lengths": np.array([*map(len, short)], np.uint16)}
    np.savez_compressed(TARGET, about=ABOUT, texts=np.frombuffer(json.dumps(chosen, ensure_ascii=False).encode(), np.uint8), kinds=kept, **arrays)
    print(f"{TARGET.name}: {len(chosen)} texts, {len(arrays['ids'])} ids, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
