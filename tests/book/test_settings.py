"""The files around the book: every chapter is in the contents, versions are pinned, the workflows are readable."""

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
            for tool in re.findall(r"\btools/\w+\.py", step.get("run", "")):
                assert (ROOT / tool).is_file()


def test_the_site_is_published_only_after_the_checks():
    jobs = yaml.safe_load(read(".github/workflows/publish.yml"))["jobs"]
    assert jobs["check"]["uses"] == "./.github/workflows/check.yml"
    assert jobs["publish"]["needs"] == "check"
    assert jobs["publish"]["if"] == "github.ref == 'refs/heads/main'"
    assert "workflow_call" in yaml.safe_load(read(".github/workflows/check.yml"))[True]


def test_the_ci_script_runs_the_same_tests_as_a_reader():
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", script]).returncode == 0
    assert script.read_text(encoding="utf-8").rstrip().endswith("\nmake test")


def test_every_workflow_compares_the_outputs_of_the_notebooks():
    weekly = yaml.safe_load(read(".github/workflows/weekly.yml"))["jobs"]
    last = {name: job["steps"][-1]["run"] for name, job in weekly.items()}
    assert last == {"newest": "pytest", "oldest": "pytest --figures-without-layout"}
    assert not any("--nbval-lax" in path.read_text(encoding="utf-8") for path in WORKFLOWS)


@pytest.mark.parametrize("target", ["help", "book", "test", "serve", "pdf", "zip", "notebooks", "lab", "bench", "clean"])
def test_make_knows_its_targets(target):
    result = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert target in subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True).stdout
