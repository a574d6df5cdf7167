"""A formula in half as many bytes: without what MathJax writes for its own scripts, which no page loads.

Nothing of it is seen, heard or styled: names of fonts whose letters have classes of their own, namespaces that HTML knows anyway,
notes for MathJax's menu and for its later passes, sizes and gaps of the MathML, which is read aloud, and blanks in styles. A letter that stands alone in its element becomes one element:
both are boxes in the line, and MathJax's rules for sizes and gaps hold for either. What every formula has (a class, the element around
the MathML, the font of italics, the place of an index) is said once, in the style sheet (`style_sheet`).
"""

import re

NEEDLESS = re.compile(
    r' class="mjx-(?!c[0-9A-F])[\w-]+"'  # the variant of a letter; its own class, mjx-c1D465 TEX-I, has the shape
    r'| (?:data-mjx-)?texclass="\w+"'
    r'| xmlns="http://www\.w3\.org/1998/Math/MathML"'
    r'| unselectable="on"'
    r'|(?<=<mjx-container) class="MathJax"| jax="CHTML"| class=" ?MJX-TEX"'
    r"|</?mjx-assistive-mml[^>]*>"
    r'| style="position: relative;"'  # of the formula itself: stands in formulas.css
)
ALONE = re.compile(r"<mjx-(mi|mo|mn)([^>]*)><mjx-c class=(\"[^\"]+\")></mjx-c></mjx-\1>")
MATHML = re.compile(r"<math\b.*</math>", re.S)
ITS_LOOKS = re.compile(r' (?:stretchy|symmetric|fence|minsize|maxsize|[lr]space|\w+spacing|columnalign|displaystyle|scriptlevel|width|data-[\w-]+)="[^"]*"')
A_GAP = re.compile(r"<mspace></mspace>|<mstyle><mspace></mspace></mstyle>")
ITALIC = re.compile(r"(mjx-c1D[0-9A-F]+)[ .]TEX-I\b")  # most letters; formulas.css gives them their font
LOW = re.compile(r'<mjx-script style="vertical-align:-\.15em;?([^"]*)">')  # as the book's formulas.css places an index
STYLE = re.compile(r'(?<= style=")[^"]+')


def shortened(formula):
    """The HTML of a formula without what has no use on a page."""
    formula = ALONE.sub(r"<mjx-c class=\3\2></mjx-c>", NEEDLESS.sub("", formula))
    formula = MATHML.sub(lambda math: A_GAP.sub("", ITS_LOOKS.sub("", math[0])), formula)
    formula = ITALIC.sub(r"\1", formula).replace('class="mjx-c', 'class="c')
    formula = STYLE.sub(lambda style: re.sub(r"(?<![\d.])0(?=\.\d)", "", re.sub(r"\s*([:;])\s*", r"\1", style[0]).rstrip(";")), formula)
    return LOW.sub(lambda found: f'<mjx-script style="{found[1]}">' if found[1] else "<mjx-script>", formula)


def style_sheet(text):
    """MathJax's style sheet for such formulas."""
    text = re.sub(r'mjx-container\[jax="CHTML"\]', "mjx-container", text).replace(".MJX-TEX", "mjx-math")
    return re.sub(r"\bmjx-assistive-mml\b", "mjx-container > math", ITALIC.sub(r"\1", text)).replace(".mjx-c", ".c")
