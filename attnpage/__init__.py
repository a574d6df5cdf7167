"""What only the pages of the book need: figures, figures in steps and to tap, schedules, tables, the library's code, recorded runs, progress.

Read in this order:

1. `plotting`: the style of the figures, and the pictures of arrays.
2. `stepped`: a figure that a reader moves through with a slider.
3. `tap`: a table of weights in which a reader chooses one; `weight_steps`: how that one came about;
   `tap_heads`: the same for a sum over heads.
4. `tables`: rows of results, on a page and in a terminal.
5. `reading`: the source of a function, shown in a chapter.
6. `schedules`: a schedule under a budget, step by step.
7. `recorded`: the stored runs of the benchmark, from which the page *Measured* quotes.
8. `progress`: how far a training is, while it runs.
9. `buggy_run`: a training with a bug in it and one without, for chapter 12.
10. `on_demand`: imports what draws when it is first asked for.
"""

from attnpage.on_demand import DRAWS, __dir__, __getattr__
from attnpage.progress import training_progress
from attnpage.reading import show_source, source
from attnpage.recorded import RecordedRuns, from_to, recorded_gpu_runs, recorded_runs
from attnpage.tables import Table, table

__all__ = [
    "plotting",
    "stepped_figure",
    "tap_figure",
    "heads_figure",
    "TapFigure",
    "draw_schedule",
    "show_schedule",
    "table",
    "Table",
    "source",
    "show_source",
    "recorded_runs",
    "recorded_gpu_runs",
    "RecordedRuns",
    "from_to",
    "training_progress",
]
