"""The built site on disk: every link and anchor leads somewhere, nothing is loaded from elsewhere."""

import pytest

from tools.site import linkcheck

PAGE = '<!DOCTYPE html><html lang="en"><head><title>t</title>{head}</head><body><h1 id="top">t</h1>{body}</body></html>'


def test_site_has_no_broken_link(site, record_property):
    problems, counts = linkcheck.check(site)
    assert not problems, "\n" + "\n".join(problems)
    for name in ("pages", "links", "anchors", "pictures"):
        assert counts[name] > 0, f"no {name} found: is the checker looking at the right folder?"
        record_property(f"checked {name}", counts[name])


def problems_of(tmp_path, body="", head="", css=""):
    (tmp_path / "index.html").write_text(PAGE.format(head=head, body=body), encoding="utf-8")
    (tmp_path / "other.html").write_text(PAGE.format(head="", body=""), encoding="utf-8")
    (tmp_path / "style.css").write_text(css, encoding="utf-8")
    return linkcheck.check(tmp_path).problems


def test_a_whole_site_has_no_problems(tmp_path):
    body = '<a href="other.html#top">a</a> <a href="#top">b</a> <a href="https://example.org/">c</a> <img src="style.css" alt="A picture.">'
    assert problems_of(tmp_path, body, '<link rel="stylesheet" href="style.css">', "a { background: url(data:,x) }") == []
    assert linkcheck.main([str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("part", "content", "said"),
    [
        ("body", '<a href="gone.html">x</a>', "broken link: gone.html"),
        ("body", '<a href="other.html#gone">x</a>', "anchor that is not there: other.html#gone"),
        ("body", '<a href="#gone">x</a>', "anchor that is not there: #gone"),
        ("body", '<a href="../outside.html">x</a>', "broken link: ../outside.html"),
        ("body", '<p id="top">x</p>', "'top' is there twice"),
        ("body", '<img src="style.css">', "without alternative text"),
        ("body", '<img src="style.css" alt=" ">', "without alternative text"),
        ("body", '<img src="style.css" alt="../_images/a.svg">', "is a file name"),
        ("body", '<img src="gone.png" alt="A picture.">', "not there: gone.png"),
        ("body", '<img src="https://example.org/a.png" alt="A picture.">', "another site: https://example.org/a.png"),
        ("body", '<div style="background: url(//example.org/a.png)"></div>', "another site: //example.org/a.png"),
        ("body", '<div class="system-message">x</div>', "an error message of the build"),
        ("body", '<span class="problematic">x</span>', "did not understand"),
        ("head", '<script src="https://example.org/a.js"></script>', "another site: https://example.org/a.js"),
        ("head", '<link rel="stylesheet" href="https://example.org/a.css">', "another site: https://example.org/a.css"),
        ("head", "<style>@import 'https://example.org/a.css'</style>", "another site: https://example.org/a.css"),
        ("head", '<meta http-equiv="refresh" content="0; url=gone.html">', "broken link: gone.html"),
        ("css", "a { background: url(gone.png) }", "not there: gone.png"),
        ("css", "@import url('https://example.org/a.css');", "another site: https://example.org/a.css"),
    ],
)
def test_each_fault_is_found(tmp_path, capsys, part, content, said):
    problems = problems_of(tmp_path, **{part: content})
    assert len(problems) == 1 and said in problems[0], problems
    assert linkcheck.main([str(tmp_path)]) == 1
    assert said in capsys.readouterr().out


def test_a_missing_site_is_an_error(tmp_path, capsys):
    assert linkcheck.main([str(tmp_path / "gone")]) == 1
    assert "run: make book" in capsys.readouterr().err
    assert "no pages" in linkcheck.check(tmp_path).problems[0]
