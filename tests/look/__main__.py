"""Draws the dashboards into a folder, and prints what is missing in them: `python -m tests.look FOLDER`."""

import sys
from pathlib import Path

from tests.look.boards import draw

for missing in draw(Path(sys.argv[1])):
    print(missing)
