"""What the site consists of: the sections that docs/README.md lists, and the folders of pages that these lead to."""
import html
import re

from builder import reference
from builder.library import Library
from builder.markdown import Renderer, plain
from builder.pages import Broken, Heading, Page, Part, Section, relative

ENTRY = "docs/README.md"
PICTURE = re.compile(r"<title>([^<]*)</title>")


class Contents:
    """All pages, by section. `tool` asks the compiler."""

    def __init__(self, places, highlighter, tool):
        self.places, self.tool = places, tool
        self.library = Library(tool)
        self.renderer = Renderer(highlighter, places, self.library)
        self.pictures = {}  # file of the tree -> file of the site
        self.made = set()  # files of the tree that are pages already
        self.sections = []

    def make(self):
        """The sections with their pages, and the pages that are in none of them but that pages lead to."""
        overview = self._markdown("README.md", "Start")
        overview.label = "Overview"
        self.sections = [Section("Start", [self._markdown(ENTRY, "Start"), overview])]
        for name, targets in self._listed():
            section = Section(name)
            self.sections.append(section)
            for target, label in targets:
                self._add(section, target, label)
        self._nothing_left_out()
        loose = [self._shown(path, page) for path, page in sorted(self.places.shown.items())]
        if self.renderer.errors:
            raise Broken("\n".join(self.renderer.errors))
        return self.sections, loose

    # ---- What docs/README.md lists ----

    def _listed(self):
        """(section, [(file or folder of the tree, what the link says)]) of each heading of the second level."""
        sections, tokens = [], self.renderer.parser.parse(self.places.read(ENTRY))
        for index, token in enumerate(tokens):
            if token.type == "heading_open" and token.tag == "h2":
                sections.append((plain(tokens[index + 1]), []))
            elif token.type == "inline" and sections:
                for at, child in enumerate(token.children):
                    if child.type == "link_open" and "#" not in child.attrs["href"]:
                        sections[-1][1].append((child.attrs["href"], token.children[at + 1].content))
        return sections

    def _add(self, section, target, label):
        path = "/".join(_normal(["docs", *target.rstrip("/").split("/")]))
        if path in self.made or path == ENTRY:
            return
        if path == "stdlib":
            section.pages += self.library.pages(self.renderer, section.name)
        elif path == "docs/errors":
            section.listed = False
            section.pages += reference.diagnostics(self.tool, self.renderer, section.name)
            self.made.update(page.source for page in section.pages)
        elif path == "docs/schemas":
            section.pages.append(self._schemas(section.name))
        elif path == "examples":
            self._examples(section)
        elif path.endswith(".md"):
            page = self._markdown(path, section.name)
            page.label = label if path != ENTRY else ""
            section.pages.append(page)
            if path == "docs/cli.md":
                section.pages.append(reference.options(self.tool, section.name))
            if path == "docs/editors.md":
                section.pages += [self._markdown(name, section.name) for folder in self.places.folder("tools/editors", "*")
                                  for name in self.places.folder(folder, "README.md")]
        elif (self.places.root / path).is_dir():
            self._folder(section, path, label)
        else:
            self.renderer.errors.append(f"{ENTRY}:1: `{target}` is no page and no folder of pages")

    def _markdown(self, path, section):
        self.made.add(path)
        return self.renderer.page(self.places.of_page(path), path, self.places.read(path), section)

    def _folder(self, section, path, label):
        """A folder of pages: its README first, or a list of its pages."""
        files = self.places.folder(path, "*.md")
        pages = [self._markdown(file, section.name) for file in files if not file.endswith("README.md")]
        if f"{path}/README.md" in files:
            first = self._markdown(f"{path}/README.md", section.name)
        else:
            there = self.places.of_page(f"{path}/README.md")
            first = Page(there, label, section.name, source=path)
            first.body = f"<h1>{html.escape(label)}</h1>\n<ul>\n" + "".join(
                f'<li><a href="{relative(there, page.path)}">{html.escape(page.title)}</a></li>\n' for page in pages) + "</ul>\n"
        section.pages += [first, *pages]

    def _nothing_left_out(self):
        for path in self.places.folder("docs", "*.md"):
            if path not in self.made:
                self.renderer.errors.append(f"{path}:1: no section of {ENTRY} has this page: add a link to it")

    # ---- Pages that are made from something else ----

    def _schemas(self, section):
        page = Page("schemas/index.html", "JSON Schemas", section, source="docs/schemas")
        rows = "".join(f'<li><a href="{self.places.resolve(path, page.path)}">{path.split("/")[-1]}</a></li>\n'
                       for path in self.places.folder("docs/schemas", "*.json"))
        page.body = ("<h1>JSON Schemas</h1>\n<p>One for each kind of object that <code>--json</code> prints (draft 2020-12). "
                     f'<a href="../json.html">What --json prints</a> has the same in tables.</p>\n<ul>{rows}</ul>\n')
        page.parts = [Part("", page.title, "JSON Schema draft 2020-12 of every kind of object")]
        return page

    def _examples(self, section):
        pages = [self._example(folder, section.name) for folder in self.places.folder("examples", "*")
                 if (self.places.root / folder / "README.md").is_file()]
        index = Page("examples/index.html", "Examples", section.name, source="examples")
        index.body = ("<h1>Examples</h1>\n<p>Programs with what one run of each printed. All of them are run by the tests."
                      "</p>\n<ul>\n") + "".join(
            f'<li><a href="{relative(index.path, page.path)}">{html.escape(page.title)}</a></li>\n' for page in pages) + "</ul>\n"
        index.parts = [Part("", "Examples", " ".join(page.title for page in pages))]
        section.pages += [index, *pages]

    def _example(self, folder, section):
        """Its README, its programs, what one run printed, and its pictures."""
        page = self._markdown(f"{folder}/README.md", section)
        programs = self.places.folder(folder, "*.tbem")
        for program in programs:
            name = program.split("/")[-1]
            title, anchor = ("Program", "program") if len(programs) == 1 else (f"Program {name}", name.replace(".", "-"))
            self._append(page, title, anchor, self.renderer.block(without_tests(self.places.read(program)), "tbem", page.path))
        for name in self.places.folder(folder, "output.txt"):
            self._append(page, "Output", "output", self.renderer.block(self.places.read(name), "text", page.path))
        for picture in self.places.folder(folder, "*.svg"):
            self.pictures[picture] = there = picture
            title = PICTURE.search(self.places.read(picture))
            name = picture.split("/")[-1]
            alt = html.unescape(title[1]) if title else f"the plot {name} that this program writes"
            self._append(page, f"Plot {name}", name.replace(".", "-"),
                         f'<p><img src="{relative(page.path, there)}" alt="{html.escape(alt)}"></p>\n')
        return page

    @staticmethod
    def _append(page, title, anchor, body):
        page.body += f'<h2 id="{anchor}">{html.escape(title)}</h2>\n{body}'
        page.headings.append(Heading(2, anchor, title))
        page.parts.append(Part(anchor, f"{page.title}: {title}" if title.startswith("Program") else title, ""))

    def _shown(self, path, there):
        """A file that a page leads to and that is no page: its text."""
        page, text = Page(there, path, "", source=path), self.places.read(path)
        language = {"h": "cpp", "cpp": "cpp", "c": "c", "def": "cpp", "py": "python", "tbem": "tbem"}.get(path.split(".")[-1], "")
        page.body = f"<h1>{html.escape(path)}</h1>\n" + self.renderer.block(text, language, there)
        return page


def without_tests(text):
    """A program without the lines by which the tests run it."""
    kept = [line for line in text.split("\n") if not re.match(r"// (?:RUN|REQUIRES|[A-Z]+(?:-[A-Z]+)*):", line)]
    return "\n".join(kept).strip("\n")


def _normal(parts):
    kept = []
    for part in parts:
        if part == "..":
            kept.pop()
        elif part != ".":
            kept.append(part)
    return kept
