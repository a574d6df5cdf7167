"""Predictions in the browser: committed to, judged, remembered, and asked again where they were missed."""

import json

import pytest
from playwright.sync_api import expect
from watched import accessibility

CHAPTER, NEXT, REVIEW, PREREQUISITES = (f"chapters/{name}.html" for name in ("04_masks", "05_multihead", "review", "prerequisites"))
KEY = "attention-derived-predictions"
LARGEST, RESCALE, CHEAT, FIRST_KEY = (f"#predict-masks-{name}" for name in ("largest", "rescale", "cheat", "first-key"))
DENIED = f"""for (const name of ["getItem", "setItem", "removeItem"]) {{
    const usual = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...rest) {{
        if (key === "{KEY}") throw new DOMException("denied", "SecurityError");
        return usual.call(this, key, ...rest);
    }};
}}"""


class Block:
    """One prediction on a page."""

    def __init__(self, page, id):
        self.box = page.locator(id)
        self.verdict, self.said = self.box.locator(".predict-result"), self.box.locator(".predict-message")
        self.answer, self.input = self.box.locator("details.answer"), self.box.locator(".predict-number input")

    def commit(self):
        self.box.get_by_role("button", name="Commit").click()

    def choose(self, letter):
        self.box.get_by_role("radio").nth("ABCDE".index(letter)).check()
        self.commit()

    def number(self, text):
        self.input.fill(text)
        self.commit()


def expect_counts(page, missed, right, more=""):
    """What Review says of all predictions of the book."""
    rest = page.locator(".predict-all .predict").count() - missed - right
    said = f"{missed} not right, {rest} not made yet, {right} right.{more}"
    expect(page.locator(".predict-counts")).to_have_text(said)
    return rest


def kept(page):
    return json.loads(page.evaluate("key => localStorage.getItem(key)", KEY) or "{}")


def test_each_kind_wrong_then_right_without_a_fault_of_axe(desk, record_property):
    page = desk.open(CHAPTER)
    assert not accessibility(page)  # nothing tried
    blocks = [Block(page, id) for id in (RESCALE, CHEAT, FIRST_KEY, LARGEST)]
    for block in blocks:
        expect(block.answer).not_to_have_attribute("open", "")
    rescale, cheat, first_key, largest = blocks
    rescale.commit()
    expect(rescale.said).to_have_text("Choose one first.")
    rescale.choose("B")
    expect(rescale.verdict).to_contain_text("Not right: you chose B.")
    expect(rescale.verdict).to_contain_text("but as one common factor")  # why people choose it
    expect(rescale.verdict).to_be_focused()
    expect(rescale.box.locator(".predict-mark")).to_have_text(["your choice", "the answer"])  # B, C
    cheat.box.get_by_role("button", name="Move C up").click()
    cheat.commit()
    expect(cheat.verdict).to_contain_text("Not right: you said A, C, B.")
    first_key.number("0.1")  # as 0.125 is within 0.04
    expect(first_key.verdict).to_contain_text("what each key would get without the mask")
    largest.box.get_by_role("gridcell", name="3", exact=True).click()
    largest.commit()
    expect(largest.verdict).to_contain_text("Not right: you chose row 1, column 2.")
    for block in blocks:
        expect(block.answer).to_have_attribute("open", "")
        expect(block.answer.locator(".predict-screen")).to_have_text("Answer")
        expect(block.box.get_by_role("button")).to_have_count(0)  # no second try here
    assert not accessibility(page)  # wrong
    page = desk.open(REVIEW)
    rescale.choose("C")
    cheat.box.get_by_role("button", name="Move C up").click()
    cheat.box.get_by_role("button", name="Move C up").click()
    cheat.commit()
    first_key.number("0.37")  # within 0.04 of 0.34
    largest.box.get_by_role("gridcell", name="1", exact=True).nth(4).click()  # row 2, column 1
    largest.commit()
    for block in blocks:
        expect(block.verdict).to_contain_text("Right: you")
        expect(block.box.get_by_role("button")).to_have_text(["Try again"])
    expect_counts(page, 0, 4)
    assert not accessibility(page)  # right
    record_property("checked states of predictions", 12)


def test_a_number_within_the_tolerance_and_what_is_no_number(desk):
    page = desk.open(CHAPTER)
    block = Block(page, FIRST_KEY)
    for text, said in [
        ("", "Type a number first."),
        ("  ", "Type a number first."),
        ("abc", "This is not a number."),
        ("1,5", "Write it with a point: 1.5"),
        ("1e999", "This is not a number."),
        ("0x1", "This is not a number."),
        ("1/0", "This is not a number."),
        ("1/2/3", "This is not a number."),
    ]:
        block.number(text)
        expect(block.said).to_contain_text(said)
        expect(block.input).to_have_attribute("aria-invalid", "true")
        expect(block.input).to_be_focused()
    assert kept(page) == {}
    block.input.fill(" 3/10 ")  # the very edge of the tolerance
    block.input.press("Enter")
    expect(block.verdict).to_have_text("Right: you said 3/10.")
    assert kept(page)[FIRST_KEY[1:]]["right"] is True


def test_a_cell_and_an_order_with_the_keyboard_alone(desk):
    page = desk.open(CHAPTER)
    keyboard = page.keyboard
    largest, cheat = Block(page, LARGEST), Block(page, CHEAT)
    cells = largest.box.get_by_role("gridcell")
    cells.nth(1).focus()
    assert largest.box.locator("td[tabindex='0']").count() == 1  # one stop of the Tab key
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowDown", "Home", "End", "Space"):
        keyboard.press(key)
    expect(largest.said).to_have_text("Chosen: row 1, column 3")
    assert largest.box.locator("td[tabindex='0']").get_attribute("aria-selected") == "true"
    keyboard.press("ArrowDown")
    keyboard.press("Home")
    keyboard.press("ArrowRight")
    keyboard.press("Enter")
    expect(largest.said).to_have_text("Chosen: row 2, column 1")
    keyboard.press("Tab")
    expect(largest.box.get_by_role("button", name="Commit")).to_be_focused()
    keyboard.press("Enter")
    expect(largest.verdict).to_have_text("Right: you chose row 2, column 1.")
    cheat.box.get_by_role("button", name="Move C up").focus()
    keyboard.press("Enter")
    expect(cheat.said).to_have_text("C is now number 2 of 3")
    keyboard.press("Enter")
    expect(cheat.said).to_have_text("C is now number 1 of 3")
    expect(cheat.box.get_by_role("button", name="Move C down")).to_be_focused()  # the other button: C is on top
    cheat.commit()
    expect(cheat.verdict).to_have_text("Right: you said C, A, B.")


def test_what_was_missed_stays_comes_back_and_goes(desk):
    page = desk.open(CHAPTER)
    Block(page, RESCALE).choose("A")
    Block(page, CHEAT).commit()  # A, B, C
    Block(page, "#predict-masks-nan").choose("A")  # right
    page = desk.open(CHAPTER)
    expect(Block(page, RESCALE).verdict).to_contain_text("Not right: you chose A.")
    expect(Block(page, CHEAT).verdict).to_contain_text("you said A, B, C.")
    expect(Block(page, "#predict-masks-nan").verdict).to_have_text("Right: you chose A.")
    expect(page.locator(".predict-missed")).to_be_hidden()
    page = desk.open(NEXT)
    region = page.get_by_role("region", name="From the last chapter")
    expect(region).to_contain_text("From the last chapter, 4. Decide who may look at whom")
    assert region.locator(".predict").evaluate_all("blocks => blocks.map(b => '#' + b.id)") == [CHEAT, RESCALE]
    rescale = Block(page, RESCALE)
    expect(rescale.verdict).to_be_empty()  # afresh
    assert not accessibility(page)
    rescale.choose("C")
    expect(rescale.verdict).to_have_text("Right: you chose C.")
    page = desk.open(NEXT)
    expect(region.locator(".predict")).to_have_count(1)
    page = desk.open(REVIEW)
    rest = expect_counts(page, 1, 2)
    titles = page.locator(".predict-all h2, .predict-known > summary")
    first, *others = titles.all_inner_texts()
    assert first.startswith("Not right (1). Exercises not solved (5 of ")  # these have tests of their own
    assert others == [f"Not made yet ({rest})", "Right (2)"]
    assert page.locator(".predict").first.get_attribute("id") == CHEAT[1:]
    expect(Block(page, RESCALE).verdict).to_be_hidden()
    place = page.locator(".predict-one").first.get_by_role("link")
    assert place.get_attribute("href") == f"04_masks.html{CHEAT}"
    page.locator(".predict-known > summary").click()
    expect(Block(page, RESCALE).verdict).to_have_text("Right: you chose C.")
    Block(page, RESCALE).box.get_by_role("button", name="Try again").click()
    Block(page, RESCALE).choose("A")
    expect_counts(page, 2, 1)
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Forget everything").click()
    assert len(kept(page)) == 3
    page.once("dialog", lambda dialog: dialog.accept())
    with page.expect_navigation():
        page.get_by_role("button", name="Forget everything").click()
    expect_counts(page, 0, 0)
    assert kept(page) == {}


def test_an_answer_that_is_shown_counts_as_not_made(desk):
    page = desk.open(CHAPTER)
    block = Block(page, RESCALE)
    block.answer.locator("summary").click()
    expect(block.answer).to_have_attribute("open", "")
    expect(block.verdict).to_contain_text("counts as not made")
    expect(block.box.get_by_role("button", name="Commit")).to_have_count(0)
    assert kept(page) == {}


def test_only_options_of_the_question_keep_their_notes_in_view(desk):
    """A number that somebody else might have said is no news to who committed to one."""
    page = desk.open(PREREQUISITES)
    blocks = [Block(page, f"#predict-{name}") for name in ("paths", "fan", "dot-product")]
    notes = [block.answer.locator("li:visible") for block in blocks]
    for block, answer in zip(blocks[:2], ("14", "7"), strict=True):
        block.number(answer)
    expect(blocks[1].verdict).to_contain_text("Watch the signs.")  # the note on any other number
    blocks[2].choose("A")
    for found, count in zip(notes, (0, 0, 1), strict=True):
        expect(found).to_have_count(count)
    page = desk.open(CHAPTER)
    shown = Block(page, FIRST_KEY)
    shown.answer.locator("summary").click()
    own = shown.box.locator("details li")
    assert own.count() == own.filter(visible=True).count() + own.filter(has_text="any other").count() > 0


def stored(record):
    return json.dumps({RESCALE[1:]: record})


# What the page takes out of the storage for the question RESCALE.
COMMITTED = """([key, id, text]) => {
    localStorage.setItem(key, text);
    return predictions.committed(id, document.getElementById(id).dataset.digest) ?? null;
}"""


def test_damaged_storage_and_a_changed_question_ask_again(desk):
    page = desk.open(CHAPTER)
    block, id = Block(page, RESCALE), RESCALE[1:]
    digest = block.box.get_attribute("data-digest")
    whole = {"digest": digest, "given": "A", "right": False}
    assert page.evaluate(COMMITTED, [KEY, id, stored(whole)]) == whole
    records = [whole | {"digest": "another"}, whole | {"given": 7}, whole | {"right": "no"}, {"digest": digest}, "A", None, [1]]
    for text in [*map(stored, records), "{", "7", "null", "[]", '"text"', ""]:
        assert page.evaluate(COMMITTED, [KEY, id, text]) is None, text
    unknown = whole | {"given": "Z"}  # there is no such option
    for text, buttons in [(stored(whole), 0), (stored(unknown), 1), (stored(whole | {"digest": "another"}), 1), ("{", 1)]:
        page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, text])
        page.reload(wait_until="domcontentloaded")
        expect(page.locator(".predict:not(.ready)")).to_have_count(0)
        expect(block.box.get_by_role("button", name="Commit")).to_have_count(buttons)
    block.choose("C")
    assert kept(page)[id]["right"] is True


@pytest.mark.parametrize("how", ["denied", "full"])
def test_a_browser_that_keeps_nothing_still_judges(how, desk):
    script = DENIED if how == "denied" else DENIED.replace('["getItem", "setItem", "removeItem"]', '["setItem"]')
    desk.page.add_init_script(script)
    page = desk.open(REVIEW)
    Block(page, RESCALE).choose("A")
    expect(Block(page, RESCALE).verdict).to_contain_text("Not right: you chose A.")
    expect_counts(page, 1, 0, " Your browser does not keep them: they last as long as this page.")
    desk.open(NEXT)
    expect(page.locator(".predict-missed")).to_be_hidden()


def test_without_scripts_it_is_a_question_with_a_folded_answer(without_scripts, address):
    page = without_scripts
    for name in (CHAPTER, REVIEW):
        page.goto(address + name)
        block = Block(page, RESCALE)
        expect(block.box.locator(":scope > ul > li")).to_have_count(3)
        expect(block.box.locator(":scope > ul > li").first).to_be_visible()
        expect(block.answer.locator("p").first).to_be_hidden()
        expect(page.locator(".predict :is(button, input)")).to_have_count(0)
        block.answer.locator("summary").click()
        expect(block.answer.locator("p").first).to_be_visible()
    assert "4. Decide who may look at whom" in page.locator(".predict-all h2").all_inner_texts()


def test_paper_has_the_questions_with_their_answers_and_no_inputs(desk):
    page = desk.open(CHAPTER)
    Block(page, RESCALE).choose("A")
    page.emulate_media(media="print")
    for hidden in (".predict-tools", ".predict-result", ".predict-mark", ".predict-moves", ".predict input", ".predict-screen"):
        assert page.locator(hidden).count() and not page.locator(f"{hidden}:visible").count(), hidden
    assert page.locator(RESCALE).locator("details li").all_inner_texts()[0].startswith("A")  # also the note that stood above
    expect(page.locator(RESCALE).locator("details li").first).to_be_visible()
    expect(page.locator(CHEAT).locator("summary")).to_have_text("Just show the answerAnswer")
    expect(page.locator(CHEAT).locator(".predict-paper")).to_be_visible()
