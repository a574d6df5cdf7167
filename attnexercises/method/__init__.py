"""How an answer gets its result, for exercises in which that is the point: reading a row once, never holding all scores.

`trace` watches one call and says which numbers it looked at and what it made of them; `access` reads from such a trace
what was held at once and in which order; `memory` measures how many bytes a call holds for each pair of tokens.
"""
