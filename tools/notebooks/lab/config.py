"""JupyterLab as `make lab` starts it: jupyter lab --config=tools/notebooks/lab/config.py"""

from pathlib import Path

HERE = Path(__file__).resolve().parent

c = get_config()  # noqa: F821  given by JupyterLab
c.ServerApp.root_dir = str(HERE.parents[2] / "chapters")
c.LabApp.default_url = "/lab/tree/01_softmax.ipynb"
c.ServerApp.allow_root = True  # in a container one often is root, and JupyterLab would not start
c.LabApp.app_settings_dir = str(HERE)  # overrides.json: no question about news; links find their places
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
