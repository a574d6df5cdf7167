"""Slips in accepted answers other than the solution that are right answers again: exercise, way, reason, slips.

Read one by one, like those in `equivalents.py`.
"""

from equivalent_ways_attention import ATTENTION
from equivalent_ways_from_flash_on import FROM_FLASH_ON
from equivalent_ways_masks_and_heads import MASKS_AND_HEADS

EQUIVALENT_WAYS = ATTENTION | MASKS_AND_HEADS | FROM_FLASH_ON
