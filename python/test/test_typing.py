"""The types of the package hold, and a user's program is checked against them."""
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent


def mypy(*arguments, cwd):
    pytest.importorskip("mypy", reason="mypy is not installed")
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cwd / "mypy"), *map(str, arguments)],
                          capture_output=True, text=True, cwd=cwd)


def test_user_program_is_typed(tmp_path):
    done = mypy(HERE / "user_program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import numpy as np\nimport trnsci\ny: int = trnsci.fft.fft(np.ones(4), axis='last')\n")
    done = mypy(wrong, cwd=tmp_path)
    assert done.returncode == 1 and "wrong.py:3: error" in done.stdout  # the checker does look


def test_package_is_typed(tmp_path):
    done = mypy("-p", "trnsci", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_user_program_runs():
    done = subprocess.run([sys.executable, HERE / "user_program.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
