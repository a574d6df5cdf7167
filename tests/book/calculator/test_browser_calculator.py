"""The calculator in the browser: by keyboard, heard, on a phone, without scripts, and on its page alone."""

import json

from playwright.sync_api import expect
from watched import accessibility

from tools import browser

PAGE = "chapters/costs.html"


def test_a_shape_is_typed_and_heard(desk):
    page = desk.open(PAGE)
    said = page.locator(".cost-said")
    expect(said).to_have_attribute("role", "status")
    expect(said).to_contain_text("6.74 × 10⁹ parameters")
    page.get_by_label("Key/value heads G").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("8")
    row = page.get_by_role("row", name="as above, G heads")
    expect(row).to_contain_text("512 MiB")
    expect(said).to_contain_text("cache 2.00 GiB")  # said when the field is left, not at every key
    page.keyboard.press("Tab")
    expect(said).to_contain_text("cache 512 MiB")
    expect(page.get_by_label("Features of a head d")).to_be_focused()
    expect(page.get_by_role("combobox", name="Model")).to_have_value("another shape")
    page.get_by_role("combobox", name="Model").select_option("PaLM 540B")
    expect(said).to_contain_text("540 × 10⁹ parameters")
    expect(page.get_by_role("row", name="as above, G heads")).to_contain_text("494,927,872 bytes")


def test_what_is_wrong_is_said_at_once_and_marks_its_field(phone):
    page = phone.open(PAGE)
    field, said = page.get_by_label("Query heads h"), page.locator(".cost-said")
    field.fill("")
    expect(said).to_have_text("Query heads h: type a number.")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_attribute("aria-describedby", "cost-said")
    expect(page.locator(".cost-calculator table")).to_be_hidden()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        browser.settle(page)
        assert not accessibility(page)
    field.fill("32")
    expect(said).to_contain_text("6.74 × 10⁹ parameters")
    assert field.get_attribute("aria-invalid") is None
    expect(page.locator(".cost-calculator table")).to_be_visible()


def test_the_longest_numbers_do_not_make_a_phone_scroll(phone):
    page = phone.open(PAGE)
    for field in page.locator(".cost-calculator input").all():
        field.fill("1000000000000")
    page.get_by_label("Bytes of a number").fill("8")
    expect(page.locator(".cost-calculator table")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator(".cost-calculator")
    inside = "box => [...box.querySelectorAll('*')].every(part => part.getBoundingClientRect().right <= innerWidth)"
    assert box.evaluate(inside)


def test_without_scripts_the_tables_are_there_and_no_dead_form(without_scripts, address):
    page = without_scripts
    page.goto(address + PAGE)
    expect(page.locator(".cost-calculator")).to_contain_text("it needs JavaScript")
    assert page.locator(".cost-calculator input").count() == 0 and page.locator("table.values").count() >= 4


def test_only_its_page_loads_it_and_it_is_small(site):
    loading = [path.name for path in site.rglob("*.html") if "calculator.js" in path.read_text(encoding="utf-8")]
    assert loading == ["costs.html"]
    assert (site / "_static" / "calculator.js").stat().st_size < 12_000


def test_a_strict_policy_lets_it_work(desk, site):
    """No script that is made of text, no request, no style in an attribute."""
    page = desk.open(PAGE)
    source = (site / "_static" / "calculator.js").read_text(encoding="utf-8")
    assert not [word for word in ("eval(", "Function(", "innerHTML", ".style", "fetch(", "import(") if word in source]
    names = json.loads(page.evaluate("JSON.stringify(Object.keys(costCalculator.PRESETS))"))
    assert page.get_by_role("combobox", name="Model").locator("option").all_inner_texts() == [*names, "another shape"]
