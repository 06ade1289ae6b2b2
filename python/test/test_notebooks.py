"""Every notebook runs from top to bottom, and says what stands in it."""
import importlib.util
import json
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))
SPEC = importlib.util.spec_from_file_location("run_notebooks", FOLDER / "run.py")
run = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(run)


@pytest.mark.parametrize("path", BOOKS, ids=[p.stem for p in BOOKS])
def test_notebook(path):
    made, kept = run.execute(path), json.loads(path.read_text())
    assert run.words(made) == run.words(kept)
    assert [c for c in kept["cells"] if c["cell_type"] == "code" and c["outputs"]]
    assert all("http" not in "".join(o.get("data", {}).get("text/html", [])) for c in made["cells"] for o in c.get("outputs", []))


def test_three_notebooks_and_a_runner_that_fails(tmp_path):
    assert len(BOOKS) == 3
    book = json.loads(BOOKS[0].read_text())
    next(c for c in book["cells"] if c["cell_type"] == "code")["source"] = ["assert 1 == 2"]
    wrong = tmp_path / "wrong.ipynb"
    wrong.write_text(json.dumps(book))
    with pytest.raises(AssertionError):
        run.execute(wrong)
