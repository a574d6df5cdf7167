"""The command line: ``python -m attnexercises export …`` and ``python -m attnexercises scores …``."""

import argparse
import sys

from attnexercises.classroom import nbgrader, otter, scores
from attnexercises.classroom.chapters import topics

NEXT = {
    "otter": "Next: otter assign {path} {folder}-made",
    "nbgrader": "Next: cd {folder} && nbgrader generate_assignment {topic}",
}


def main(arguments=None):
    """Run the command line. Return the exit status: 0, or 2 after printing one sentence to the standard error."""
    parser = argparse.ArgumentParser("python -m attnexercises", description="Assignments for a class.")
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser("export", help="write chapters as assignments")
    grader = export.add_mutually_exclusive_group(required=True)
    grader.add_argument("--otter", dest="grader", action="store_const", const=otter, help="for Otter-Grader")
    grader.add_argument("--nbgrader", dest="grader", action="store_const", const=nbgrader, help="for nbgrader")
    export.add_argument("--book", help="the folder of the chapters; by default the one beside the library")
    export.add_argument("chapters", nargs="+", metavar="CHAPTER", help=", ".join(topics()))
    export.add_argument("folder", metavar="DIR", help="a folder to write to")
    table = commands.add_parser("scores", help="what a grader found, as a table for a learning platform")
    table.add_argument("file", metavar="FILE", help="Otter's results.json, or the grades.csv of nbgrader export")
    table.add_argument("--as", dest="form", choices=("csv", "json"), default="csv")
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "scores":
            print(scores.as_text(scores.read(asked.file), asked.form), end="")
        else:
            for topic in asked.chapters:
                path = asked.grader.export(topic, asked.folder, asked.book)
                name = asked.grader.__name__.rpartition(".")[2]
                print(f"{path}\n{NEXT[name].format(path=path, folder=asked.folder, topic=topic)}")
    except (ValueError, OSError) as error:
        print(f"attnexercises: {error}", file=sys.stderr)
        return 2
    return 0
