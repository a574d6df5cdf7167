"""Wrong answers to the number question on decoding, as readers may write them."""

from . import wrong

wrong("kv_cache_bytes", "keys alone", named=("half",))(26_880_000)
wrong("kv_cache_bytes", "12 heads", named=("query_heads",))(161_280_000)
wrong("kv_cache_bytes", "queries as well", named=("with_queries",))(80_640_000)
wrong("kv_cache_bytes", "one layer", named=("one_layer",))(7_680_000)
wrong("kv_cache_bytes", "one text", named=("one_text",))(17_920_000)
wrong("kv_cache_bytes", "numbers", named=("numbers",))(13_440_000)
wrong("kv_cache_bytes", "one text, one layer", named=("one_text_one_layer",))(2_560_000)
wrong("kv_cache_bytes", "in MiB, rounded", named=("mebibytes",))(51.3)
wrong("kv_cache_bytes", "one token of all texts", named=("one_token",))(53_760)
