"""E2E-SWE's one-line patch: a separate verifier that takes its image from docker_image gets the task's tests copied."""

import sys
from pathlib import Path

import harbor.trial.trial as trial

path = Path(trial.__file__)
text = path.read_text()
before = "skip_tests_upload=True,"
if text.count(before) != 1:
    sys.exit(f"{path}: expected the line {before!r} once, found it {text.count(before)} times")
path.write_text(text.replace(before, "skip_tests_upload=False,"))
