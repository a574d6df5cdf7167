"""The files around the book: every chapter is in the contents, versions are pinned, the workflows are readable."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_page_is_in_the_contents_once():
    contents = yaml.safe_load(read("_toc.yml"))
    entries = [contents["root"]]

    def collect(entry):
        entries.extend([entry["file"]] if "file" in entry else [])
        for group in ("chapters", "sections", "parts", "subtrees"):
            for inner in entry.get(group, ()):
                collect(inner)

    collect(contents)
    pages = [path.relative_to(ROOT).with_suffix("").as_posix() for kind in ("md", "ipynb") for path in (ROOT / "chapters").rglob(f"*.{kind}")]
    assert sorted(entries) == sorted(page for page in pages if ".ipynb_checkpoints" not in page)


def test_the_address_of_the_repository_is_empty_or_one_that_a_reader_can_open():
    url = yaml.safe_load(read("_config.yml"))["repository"]["url"]
    assert url == "" or re.fullmatch(r"https://[\w.-]+/[\w.-]+/[\w.-]+", url), url


def name_of(line):
    return re.split(r"[<>=!~\[; ]", line, maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")


def test_every_requirement_has_an_exact_version_in_the_constraints():
    required = [line.split("#")[0].strip() for line in read("requirements.txt").splitlines()]
    required = [line for line in required if line]
    assert required[-1] == "-e ."
    pinned = {name_of(line): line for line in read("constraints.txt").splitlines() if line and not line.startswith("#")}
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in pinned.values())
    assert {name_of(line) for line in required[:-1]} <= set(pinned)
    for line in required[:-1]:
        assert re.search(r"==|<", line), f"{line}: no upper end"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_readable_and_its_actions_are_pinned(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["name"] == path.stem
    assert workflow[True], "YAML reads the key `on` as true"
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert "uses" in job or job["runs-on"] == "ubuntu-latest"
        for step in job.get("steps", []):
            assert ("uses" in step) != ("run" in step)
            assert "uses" not in step or re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]), step
            for tool in re.findall(r"-m (tools[\w.]+)", step.get("run", "")):
                assert ROOT.joinpath(*tool.split(".")).with_suffix(".py").is_file()


@pytest.mark.parametrize(("name", "job"), [("publish", "publish"), ("release", "attach")])
def test_the_site_is_published_only_after_all_checks(name, job):
    jobs = yaml.safe_load(read(f".github/workflows/{name}.yml"))["jobs"]
    assert jobs["check"] == {"uses": "./.github/workflows/check.yml", "with": {"thorough": True}}
    assert jobs[job]["needs"] == "check"
    assert name == "release" or jobs["publish"]["if"] == "github.ref == 'refs/heads/main'"
    assert "thorough" in yaml.safe_load(read(".github/workflows/check.yml"))[True]["workflow_call"]["inputs"]


def test_the_graders_are_installed_where_they_may_not_be_missing():
    job = yaml.safe_load(read(".github/workflows/check.yml"))["jobs"]["test"]
    (installs,) = [step for step in job["steps"] if step.get("run") == "make graders"]
    assert installs["if"] == "inputs.thorough && matrix.python == '3.11'"
    assert job["env"]["ATTNLIB_REQUIRE_GRADERS"] == "${{ matrix.python == '3.11' && '1' || '0' }}"


@pytest.mark.parametrize("named", [[], ["test-all"]])
def test_the_ci_script_runs_the_same_tests_as_a_reader(tmp_path, named):
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    for name in ("make", "chromium"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (tmp_path / name).chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    done = subprocess.run([script, *named], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"make {(named or ['test'])[0]}"


def test_every_week_all_checks_are_run_with_the_newest_and_the_oldest_versions():
    weekly = yaml.safe_load(read(".github/workflows/weekly.yml"))["jobs"]
    last = {name: [step["run"] for step in job["steps"][-3:]] for name, job in weekly.items()}
    layout = {"newest": "", "oldest": " --figures-without-layout"}
    more = {"newest": " --hypothesis-profile=searching --shuffled=${{ github.run_number }}", "oldest": ""}
    for name, (graders, older, everything) in last.items():
        assert graders == "python -m tools.installing.graders"
        assert older == f"python -m tools.testing.plain_cpu pytest -n 2{layout[name]} chapters"
        assert everything == f"pytest -n 2 --thorough{layout[name]}{more[name]}"
    assert not any("--nbval-lax" in path.read_text(encoding="utf-8") for path in WORKFLOWS)


@pytest.mark.parametrize("target", ["help", "book", "test", "test-all", "graders", "serve", "pdf", "zip", "notebooks", "lab", "bench", "clean"])
def test_make_knows_its_targets(target):
    result = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert target in subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True).stdout


def test_every_file_made_by_hand_says_why():
    page = read("book/BY_HAND.md")
    code = [path for top in ("book", "tools") for kind in ("py", "js", "mjs") for path in (ROOT / top).rglob(f"*.{kind}")]
    assert not [path for path in code if path.name != "__init__.py" and f"`{path.name}`" not in page] and len(code) > 100
    folders = {path.parent.name for path in code if path.parent.parent in (ROOT / "book", ROOT / "tools")}
    assert not [name for name in folders if f"**`{name}`**" not in page]
