"""The works of references.bib: each can be found by an identifier, and the identifier has the form of one."""

import re
from pathlib import Path

import pytest
from pybtex.database import parse_file, parse_string

BIB = Path(__file__).resolve().parents[3] / "chapters" / "references.bib"
WORKS = parse_file(str(BIB), bib_format="bibtex").entries
DOI = re.compile(r"10\.\d{4,9}/[-._;()/:\w]*[\w)]", re.ASCII)
# Since April 2007 year, month and a number (of five digits from 2015), before that an archive and a number.
ARXIV = re.compile(r"(?P<new>\d\d)(?:0[1-9]|1[0-2])\.(?:\d{4}|\d{5})|[a-z-]+(?:\.[A-Z]{2})?/(?P<old>\d\d)(?:0[1-9]|1[0-2])\d{3}")
ADDRESS = re.compile(r"https://[a-z0-9.-]+\.[a-z]{2,}/\S+")
ISBN = re.compile(r"97[89]-?\d-?(?:\d-?){8}\d")
# No DOI and no arXiv id exists for these: an address that lasts.
BY_ADDRESS = {
    "bridle1990training", "dao2023flashdecoding", "elhage2021mathematical", "glorot2010understanding",
    "watson1964smooth", "luce1959individual", "nowozin2016streaming", "yu2022orca", "levesque2012winograd",
}  # fmt: skip


def faults(entry):
    """What is wrong with the identifiers of a work: a list of sentences."""
    fields, found = entry.fields, []
    if "doi" in fields and not DOI.fullmatch(fields["doi"]):
        found.append(f"{fields['doi']} is no DOI")
    if "eprint" in fields:
        id = ARXIV.fullmatch(fields["eprint"])
        if fields.get("archiveprefix") != "arXiv" or not id:
            found.append(f"{fields['eprint']} is no arXiv id")
        else:
            year = int(id["new"] or id["old"])
            year += 2000 if year < 91 else 1900  # arXiv began in 1991
            if len(fields["eprint"].rpartition(".")[2]) != (5 if year >= 2015 else 4) and id["new"]:
                found.append(f"{fields['eprint']} has a wrong number of digits for {year}")
            if year > int(fields["year"]):
                found.append(f"{fields['eprint']} is younger than the work")
    if "url" in fields:
        if not ADDRESS.fullmatch(fields["url"]):
            found.append(f"{fields['url']} is no address")
        if re.search(r"arxiv\.org|doi\.org", fields["url"]):
            found.append(f"{fields['url']} holds an identifier, which belongs in doi or eprint")
    if "isbn" in fields and not ISBN.fullmatch(fields["isbn"]):
        found.append(f"{fields['isbn']} is no ISBN")
    if not {"doi", "eprint", "url", "isbn"} & {name.lower() for name in fields}:
        found.append("can be found by nothing: no DOI, arXiv id, address or ISBN")
    return found


def entry(fields):
    return parse_string(f"@misc{{one, year = {{2017}}, {fields}}}", bib_format="bibtex").entries["one"]


@pytest.mark.parametrize("key", WORKS)
def test_a_work_can_be_found(key):
    assert faults(WORKS[key]) == []


def test_an_address_alone_is_for_works_without_an_identifier():
    assert {key for key, work in WORKS.items() if not {"doi", "eprint"} & {*work.fields}} == BY_ADDRESS


def test_no_identifier_stands_twice():
    for kind in ("doi", "eprint", "url"):
        ids = [work.fields[kind].lower() for work in WORKS.values() if kind in work.fields]
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    "fields",
    [
        "doi = {10.1145/103162.103163}", "doi = {10.1007/978-3-642-76153-9_28}", "doi = {10.18653/v1/N19-1423}",
        "eprint = {1706.03762}, archiveprefix = {arXiv}", "eprint = {1412.6980}, archiveprefix = {arXiv}",
        "eprint = {cs/0112017}, archiveprefix = {arXiv}", "eprint = {math.GT/0309136}, archiveprefix = {arXiv}",
        "url = {https://proceedings.mlr.press/v9/glorot10a.html}", "isbn = {978-0-387-30303-1}",
    ],
)  # fmt: skip
def test_the_forms_that_are_used_are_known(fields):
    assert faults(entry(fields)) == []


@pytest.mark.parametrize(
    "fields",
    [
        "note = {in print}", "doi = {https://doi.org/10.1145/103162.103163}", "doi = {10.1145}", "doi = {10.1145/a b}",
        "doi = {10.1145/103162.}", "eprint = {1706.03762}", "eprint = {1713.03762}, archiveprefix = {arXiv}",
        "eprint = {1706.0376}, archiveprefix = {arXiv}", "eprint = {1412.06980}, archiveprefix = {arXiv}",
        "eprint = {1806.03762}, archiveprefix = {arXiv}", "eprint = {1706.03762v5}, archiveprefix = {arXiv}",
        "url = {https://arxiv.org/abs/1706.03762}", "url = {http://example.org/a}", "isbn = {12345}",
    ],
)  # fmt: skip
def test_another_form_is_found(fields):
    assert len(faults(entry(fields))) == 1
