"""Decode token by token: keep the keys and values of the past instead of computing them again.

Read in this order:

1. `kv_cache`: where the keys and values are kept.
2. `step`: new tokens look at the cache and at each other.
3. `paged`: many texts in one store, in pages that lie anywhere.
"""

from attnlib.decoding.kv_cache import KVCache, SlidingKVCache
from attnlib.decoding.paged import PagedKVCache
from attnlib.decoding.step import attend_with_cache, multihead_decode

__all__ = [
    "KVCache",
    "PagedKVCache",
    "SlidingKVCache",
    "attend_with_cache",
    "multihead_decode",
]
