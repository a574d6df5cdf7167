"""Which letters of the formulas mean two things: see the page of notation."""

import re

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
