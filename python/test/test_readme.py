"""The programs in README.md and docs/python.md run as they stand."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_programs(name):
    programs = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.M | re.S)
    assert programs
    for program in programs:
        exec(compile(program, name, "exec"), {})
