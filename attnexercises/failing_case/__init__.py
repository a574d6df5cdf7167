"""Find and show the smallest input on which an answer goes wrong.

`smallest` searches for this input. `case` defines the object that `case("softmax")` returns to the reader. `as_text`
and `as_html` show it in a terminal and in a notebook.
"""
