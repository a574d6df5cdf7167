"""Exercises of the page *Puzzles*: schedules under a budget, derivatives, inputs that expose a wrong function.

Read `machine` (the chip that follows a schedule), then `tiles` (Flash attention on it) and `caches` (decoding on it).
Derivatives: `slopes` (how they are measured), then `soft_maximum`, `softcap` and `rms`.
Inputs: `suspects` (the wrong functions, as the page shows them), `exposed` (how an input is judged), `inputs`.
"""

from attnexercises.puzzles import suspects
from attnexercises.puzzles.caches import TEXTS, WINDOW
from attnexercises.puzzles.tiles import CAUSAL, FLASH, tiles

__all__ = [
    "suspects",
    "FLASH",
    "CAUSAL",
    "WINDOW",
    "TEXTS",
    "tiles",
]
