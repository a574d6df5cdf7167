"""The smallest input on which an answer goes wrong, to look at and to play with.

`smallest` finds it, `case` is what `case("softmax")` returns, `as_text` and `as_html` show it in a terminal and in a
notebook, and `places` tells where a matrix is wrong, in words and as a grid of marks.
"""
