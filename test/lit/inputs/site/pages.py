"""A finished site: pages.py SITE TBEMC ROOT. Links and anchors, resources, headings, what has to be there; a line each of what
is wrong. Reads the pages by itself, not with what made them."""
import html.parser
import json
import pathlib
import posixpath
import re
import subprocess
import sys
from urllib.parse import unquote

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "manifest", "ping"}


class Reader(html.parser.HTMLParser):
    def __init__(self, path, wrong):
        super().__init__()
        self.path, self.wrong, self.open = path, wrong, []
        self.ids, self.links, self.loads, self.levels, self.labels = {}, [], [], [], set()

    def say(self, message):
        self.wrong.append(f"{self.path}: {message}")

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in given:
            if given["id"] in self.ids:
                self.say(f"#{given['id']} twice")
            self.ids[given["id"]] = tag
        for name, value in attrs:
            if name in LOADING or (name == "href" and tag not in ("a", "area")):
                self.loads.append(value)
            if name.startswith("on") or (name == "style" and "url(" in value):
                self.say(f"<{tag} {name}>")
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "img" and not (given.get("alt") or "").strip():
            self.say("a picture without alt")
        if tag == "html" and not given.get("lang"):
            self.say("no language")
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "label":
            self.labels.add(given.get("for"))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.say(f"</{tag}> closes something else, line {self.getpos()[0]}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script" and data.strip():
            self.say("a script in the page")


def read(site):
    pages, wrong = {}, []
    for file in sorted(site.rglob("*.html")):
        path = file.relative_to(site).as_posix()
        reader = pages[path] = Reader(path, wrong)
        reader.feed(file.read_text(encoding="utf-8"))
        reader.close()
        if reader.open:
            reader.say(f"<{reader.open[-1]}> is not closed")
        if reader.levels.count(1) != 1 or reader.levels[0] != 1:
            reader.say(f"headings {reader.levels[:4]}: one h1, and it first")
        if any(after > before + 1 for before, after in zip(reader.levels, reader.levels[1:])):
            reader.say("a level of headings is left out")
        if "query" not in reader.labels:
            reader.say("the search has no label")
    return pages, wrong


def check_links(site, pages, wrong):
    count = 0
    for path, reader in pages.items():
        for link in reader.loads:
            if re.match(r"[a-z][a-z0-9+.-]*:|//", link, re.IGNORECASE):
                wrong.append(f"{path}: loads {link}")
        for link in reader.links + reader.loads:
            if re.match(r"(?:https?|mailto):", link):
                continue
            count += 1
            target, _, anchor = unquote(link).partition("#")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            if not (site / there).is_file():
                wrong.append(f"{path}: {link}: there is no {there}")
            elif anchor and (there not in pages or anchor not in pages[there].ids):
                wrong.append(f"{path}: {link}: {there} has no #{anchor}")
    return count


def check_assets(site, wrong):
    """Nothing of the site asks for anything else."""
    for file in sorted((site / "assets").iterdir()):
        if file.name == "index.js":
            continue
        for found in re.findall(r"@import|url\(|https?:|\bfetch\b|XMLHttpRequest|WebSocket|\bimport\(", file.read_text()):
            wrong.append(f"assets/{file.name}: {found}")


def luminance(colour):
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """WCAG 2.2, definition of contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def check_contrast(site, wrong):
    """Of each colour of text to each ground that it may stand on."""
    least, light = 21.0, {}
    for block in re.findall(r":root\s*\{(.*?)\}", (site / "assets/site.css").read_text(), re.DOTALL):
        given = dict(re.findall(r"--([a-z]+):\s*(#[0-9a-f]{6})", block))
        light = light or given
        colours = {**light, **given}
        for ground in ("ground", "soft", "mark"):
            for name in colours.keys() - {"ground", "soft", "mark", "line"}:
                if ground == "mark" and name not in ("text", "faint", "link"):
                    continue
                ratio = contrast(colours[name], colours[ground])
                least = min(least, ratio)
                if ratio < 4.5:
                    wrong.append(f"site.css: --{name} on --{ground}: {ratio:.2f}")
    return least


def check_contents(tbemc, root, pages, wrong):
    """Every declaration of the library has an anchor, every diagnostic and every file of docs a page."""
    def objects(*arguments):
        done = subprocess.run([tbemc, *arguments, "--json"], check=True, capture_output=True, encoding="utf-8")
        return [json.loads(line) for line in done.stdout.splitlines()]

    declared = [entry["name"].rpartition(".") for entry in objects("doc", "--all")]
    for module, _, name in declared:
        if name.lower() not in getattr(pages.get(f"library/{module}.html"), "ids", {}):
            wrong.append(f"library/{module}.html: no #{name}")
    tables = sorted((root / "compiler/diagnostics/tables").glob("*.def"))
    codes = sorted(set(re.findall(r'"([EWN][0-9]{4})"', "".join(file.read_text(encoding="utf-8") for file in tables))))
    wrong += [f"errors/{code}.html: not there" for code in codes if f"errors/{code}.html" not in pages]
    for file in (root / "docs").rglob("*.md"):
        path = file.relative_to(root / "docs").as_posix()
        page = re.sub(r"README\.md$", "index.md", path)[:-3] + ".html"
        if page not in pages:
            wrong.append(f"{page}: not there")
    for folder in (root / "examples").iterdir():
        if not (folder / "README.md").is_file():
            continue
        programs = [path.name.replace(".", "-") for path in folder.glob("*.tbem")]
        ids = getattr(pages.get(f"examples/{folder.name}.html"), "ids", {})
        for anchor in ["program"] if len(programs) == 1 else programs:
            if anchor not in ids:
                wrong.append(f"examples/{folder.name}.html: no program at #{anchor}")
    return len(declared), len(codes)


def main():
    site, tbemc, root = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    pages, wrong = read(site)
    count = check_links(site, pages, wrong)
    check_assets(site, wrong)
    least = check_contrast(site, wrong)
    declared, codes = check_contents(tbemc, root, pages, wrong)
    print("\n".join(wrong[:40]))
    print(f"{len(pages)} pages, {count} links, {declared} declarations, {codes} diagnostics, least contrast {least:.2f}, "
          f"{len(wrong)} wrong")


if __name__ == "__main__":
    main()
