"""mkdocs calls this with the configuration: documents that its navigation does not name are listed under "More"."""
import pathlib


def named(entries):
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(value, list):
                yield from named(value)
            else:
                yield value


def on_config(config):
    folder = pathlib.Path(config["docs_dir"])
    known = set(named(config["nav"]))
    pages = {x.relative_to(folder).as_posix() for x in folder.rglob("*.md")}
    rest = sorted(x for x in pages - known if not x.startswith(("headers/", "source/", "python/reference/")))
    if rest:
        config["nav"].append({"More": rest})
    return config
