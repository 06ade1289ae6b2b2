"""Builds the site and looks at what came out.

usage: test_site.py FOLDER          where pages and site are made

Without mkdocs nothing is built: that is printed, counted as skipped, and the status is 77. What is checked after
`mkdocs build --strict`: every link and anchor within the site leads somewhere, and no page asks for anything from elsewhere
(scripts, styles, pictures, fonts).
"""
import html.parser
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Page(html.parser.HTMLParser):
    """Links, anchors and things that a browser loads by itself."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.loads = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.anchors.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag == "link" and found.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(found.get("href", ""))
        if tag in ("script", "img", "iframe", "source") and found.get("src"):
            self.loads.append(found["src"])


def check(site):
    findings, links = [], 0
    pages = {x: Page(x.read_text()) for x in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        findings += [f"{name}: loads {x}" for x in page.loads if "//" in x]
        findings += [f"{name}: {x} is not there" for x in page.loads if "//" not in x and name.name != "404.html" and not (path.parent / x).exists()]
        for link in page.links:
            target, _, fragment = link.partition("#")
            if "://" in target or target.startswith("mailto:") or name.name == "404.html":
                continue
            links += 1
            there = (path.parent / urllib.parse.unquote(target)).resolve() if target else path
            if there.is_dir():
                there /= "index.html"
            if not there.exists():
                findings.append(f"{name}: the link to {link} leads nowhere")
            elif fragment and there in pages and urllib.parse.unquote(fragment) not in pages[there].anchors:
                findings.append(f"{name}: {link}: no such place on that page")
    for style in site.rglob("*.css"):
        if "url(http" in style.read_text() or "url(//" in style.read_text():
            findings.append(f"{style.relative_to(site)}: loads from elsewhere")
    print("\n".join(dict.fromkeys(findings)) or f"{len(pages)} pages, {links} links within the site, nothing loaded from elsewhere")
    return 1 if findings else 0


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    mkdocs = shutil.which("mkdocs")
    if not mkdocs:
        print("1 skipped: mkdocs is not installed; ./run docs installs it")
        return 77
    subprocess.run([sys.executable, "-B", ROOT / "docs/site/pages.py", folder / "site-pages"], check=True)
    done = subprocess.run([mkdocs, "build", "--strict", "--quiet", "--config-file", ROOT / "mkdocs.yml", "--site-dir", folder / "site"],
                          env={**os.environ, "TRN_SITE_PAGES": str(folder / "site-pages"), "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode != 0:
        print("mkdocs build --strict fails")
        return 1
    return check(folder / "site")


if __name__ == "__main__":
    sys.exit(main())
