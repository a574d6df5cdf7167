"""Find and show the smallest input on which an answer goes wrong.

`smallest` searches for this input. `case` defines the object that `case("softmax")` returns to the reader. `as_text`
and `as_html` show it in a terminal and in a notebook, and `places` shows which entries of a matrix are wrong, in words
and as a grid of marks.
"""
