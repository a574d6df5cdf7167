"""The search: the page that is about the words comes first, and what is quoted can be read. Served, and from a disk."""

import functools
from urllib.parse import urlencode, urlsplit

import pytest
from watched import CHAPTERS, Watched, accessibility

from tools import browser

# What a reader types, and the page and the place that must come first. A word that no heading of a chapter has is
# explained by the glossary or the library.
FIRST = {
    "causal mask": ("4. Decide who may look at whom", "Exercise 4.2: A causal mask for decoding"),
    "softmax": ("1. Turn scores into weights", "Exercise 1.1: A softmax that no finite score can break"),
    "attention": ("2. Read a lookup table with a blurry key", "Self-attention and cross-attention"),
    "backward pass": ("3. Derive the backward pass and catch a planted mistake", None),
    "masks": ("4. Decide who may look at whom", "Masks of real models"),
    "head": ("12. Watch heads learn", None),  # the word is in its title
    "flash": ("6. Never write the score matrix down", "The traffic of Flash, counted"),
    "ring attention": (
        "8. Share the work", "A text too long for one machine: ring attention",
    ),
    "online softmax": ("Look up a term", "online softmax"),
    "logsumexp": ("7. Get the gradients back", "Exercise 7.3: A gradient for the logsumexp, too"),
    "kv cache": ("Look up a term", "KV cache"),
    "rotary": ("9. Give attention a sense of order", None),
}
IN_A_HEADING = ["softmax", "attention", "masks", "head", "flash"]
RESULTS = """() => [...document.querySelectorAll('#search-results > ul > li')].map(item => ({
    page: item.querySelector('a').innerText,
    address: item.querySelector('a').getAttribute('href').split('?')[0],
    sections: [...item.querySelectorAll('li a')].map(link => link.innerText),
    quoted: [...item.querySelectorAll('.context')].map(text => text.innerText),
}))"""

# The page looks for one query, that of its address. To open it anew for each of sixty would take most of the time.
ANOTHER_QUERY = """
const usual = URLSearchParams.prototype.get;
URLSearchParams.prototype.get = function (name) { return (name === "q" && window.asked) || usual.call(this, name); };
window.ask = (query) => new Promise((done) => {
    window.asked = query;
    const script = document.createElement("script");
    script.src = document.querySelector("script[src*='search_text']").src;
    script.onload = () => done(script.remove());
    document.head.append(script);
});"""


@pytest.fixture(scope="module", params=["from a disk", pytest.param("served", marks=pytest.mark.thorough)])
def ask(request, chromium, address, site):
    """A function that gives the results of a query, and asks each query once.

    Files are what a browser treats more strictly; that the search works where it is served, test_browser_clicks.py asks.
    """
    where = address if request.param == "served" else f"{site.as_uri()}/"
    with Watched(chromium, where, 1440, color_scheme="light") as watched:
        watched.context.add_init_script(ANOTHER_QUERY)
        watched.open("search.html?q=softmax")

        @functools.cache
        def results(query):
            watched.page.evaluate("query => window.ask(query)", query)
            assert f"“{query}”" in watched.page.inner_text("#search-results .search-summary")
            assert not watched.faults
            return watched.page.evaluate(RESULTS)

        yield results


def results(desk, query):
    page = desk.open(f"search.html?{urlencode({'q': query})}")
    page.wait_for_selector("#search-results .search-summary")
    return page.evaluate(RESULTS)


def test_the_page_about_the_words_comes_first(ask):
    for query, (page, section) in FIRST.items():
        first = ask(query)[0]
        assert first["page"] == page, query
        assert section is None or section in first["sections"], query


#: Names in common use, and a page that has to be among the first three.
NAMES = {
    "RoPE": "glossary", "rotary embedding": "glossary", "KV cache": "glossary", "KV-cache": "glossary", "key-value cache": "glossary",
    "GQA": "glossary", "MQA": "glossary", "MLA": "glossary", "MHA": "glossary", "ALiBi": "glossary", "SDPA": "glossary",
    "FlashAttention": "glossary", "flash attention": "glossary", "log-sum-exp": "glossary", "logsumexp": "glossary", "LSE": "glossary",
    "attention sink": "glossary", "speculative decoding": "glossary", "PagedAttention": "glossary", "vLLM": "glossary",
    "sliding window attention": "glossary", "prefill": "glossary", "online softmax": "glossary", "safe softmax": "01_softmax",
    "grouped-query attention": "glossary", "multi-head latent attention": "glossary", "scaled dot-product attention": "glossary",
    "positional encoding": "glossary", "YaRN": "glossary", "NTK": "glossary", "induction head": "glossary", "VJP": "glossary",
    "backpropagation": "03_gradients", "backprop": "03_gradients", "autograd": "03_gradients", "activation checkpointing": "07_recompute",
    "gradient checkpointing": "07_recompute", "RMSNorm": "glossary", "residual stream": "glossary", "softcapping": "exercises",
    "HBM": "glossary", "roofline": "glossary", "split-KV": "glossary", "ring attention": "glossary", "linear attention": "glossary",
}  # fmt: skip


def test_what_is_called_otherwise_elsewhere_is_found(ask):
    first = {name: [result["address"] for result in ask(name)[:3]] for name in NAMES}
    assert {name: found for name, found in first.items() if not any(NAMES[name] in page for page in found)} == {}


def test_the_library_comes_after_the_chapters_that_have_the_word_in_a_heading(ask):
    for query in IN_A_HEADING:
        pages = [result["address"] for result in ask(query)]
        chapters = [number for number, address in enumerate(pages) if address.lstrip("./") in CHAPTERS]
        library = [number for number, address in enumerate(pages) if "/api/" in address]
        assert library and chapters[0] < library[0], query


def test_every_quotation_is_plain_text(ask, record_property):
    checked = 0
    for query in [*FIRST, "gradient", "square root", "temperature", "shape"]:
        for result in ask(query):
            assert result["quoted"], f"{query}: nothing is quoted from {result['page']}"
            for text in result["quoted"]:
                assert len(text) > 10 and "\\" not in text and "$" not in text, f"{query}: {result['page']}: {text!r}"
                checked += 1
    record_property("checked quotations", checked)


def test_a_quotation_shows_the_words(ask):
    for result in ask("temperature"):
        assert any("temperature" in text.lower() for text in [*result["quoted"], *result["sections"]]), result


def test_forms_of_a_word_are_found(ask):
    assert ask("softmaxes")[0]["page"] == FIRST["softmax"][0]


def test_the_library_is_found_by_name(ask):
    assert "attnlib.decoding.KVCache" in [name for result in ask("KVCache") for name in result["sections"]]


def test_nothing_found_is_said(desk):
    assert results(desk, "xylophone") == []
    assert "Nothing was found for “xylophone”" in desk.page.inner_text("#search-results")


def test_what_was_asked_is_shown_as_text(desk):
    results(desk, "<img src=x onerror=alert(1)>")
    assert "<img src=x" in desk.page.inner_text("#search-results") and not desk.page.query_selector("#search-results img")


def in_both_schemes(page):
    """What axe finds in the light page and in the dark one."""
    found = {}
    for scheme in browser.SCHEMES:
        page.emulate_media(color_scheme=scheme)
        browser.settle(page)
        found[scheme] = accessibility(page)
    return found


def test_marks_have_contrast(desk):
    """In the results, and on the page that is opened; diagrams and formulas stay as they are, Escape ends it."""
    results(desk, "softmax weights")
    page = desk.page
    assert page.locator("#search-results .highlighted").count() > 10
    assert in_both_schemes(page) == {"light": [], "dark": []}
    page.locator("#search-results > ul > li > a", has_text="Attention, Derived").click()
    page.wait_for_selector("article .highlighted")
    assert {text.lower() for text in page.locator(".highlighted").all_inner_texts()} == {"softmax", "weight", "weights", "weighted"}
    assert page.locator(":is(svg, mjx-container, nav) .highlighted").count() == 0
    assert in_both_schemes(page) == {"light": [], "dark": []}
    page.keyboard.press("Escape")
    assert page.locator(".highlighted").count() == 0


def test_the_words_are_marked_on_each_result_that_is_opened_in_a_tab_of_its_own(desk):
    """And the address of what was opened is that of the place, as a reader would keep or send it."""
    results(desk, "causal mask")
    for link in desk.page.locator("#search-results li li a").all()[:3]:
        with desk.page.context.expect_page() as opened:
            link.click(modifiers=["ControlOrMeta"])
        with opened.value as tab:
            tab.wait_for_selector("article .highlighted")
            assert {text.lower() for text in tab.locator(".highlighted").all_inner_texts()} >= {"causal", "mask"}
            assert urlsplit(tab.url)._replace(query="").geturl() == tab.url and "#" in tab.url


def test_an_address_marks_words_and_no_pattern(desk):
    page = desk.open(f"chapters/04_masks.html?{urlencode({'marked': '(causal|.*)+$ mask'})}")
    assert {text.lower() for text in page.locator("article .highlighted").all_inner_texts()} >= {"causal", "mask", "masks"}
    assert page.locator("article .highlighted", has_text="attention").count() == 0
