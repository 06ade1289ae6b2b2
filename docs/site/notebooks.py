"""A notebook as a page: its text, its code, and the outputs that stand in it."""
import json


def render(path):
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            picture = data.get("image/svg+xml") or data.get("text/html")
            if picture:  # a block of HTML ends at an empty line
                parts.append("<div>" + "".join(picture).replace("\n", " ") + "</div>")
            else:
                text = "".join(output.get("text", []) or data.get("text/plain", [])).rstrip()
                parts.append(f"```text\n{text}\n```")
    parts.append(f"*The notebook itself is `python/notebooks/{path.name}`; the tests run it.*")
    return "\n\n".join(parts) + "\n"
