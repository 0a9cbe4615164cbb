"""The standard library: a page for each module, made from what the compiler reads of it."""
import html
import re
from collections import Counter

from builder.pages import Anchors, Heading, Page, Part, first_sentence, relative

INDEX = "library/index.html"


class Library:
    """The public declarations, by module: of each its `short` name and its `anchor` beside what the compiler says."""

    def __init__(self, tool):
        self.modules, self.places = {}, {}
        for entry in tool.declarations():
            module, _, name = entry["name"].rpartition(".")
            self.modules.setdefault(module, []).append({**entry, "short": name})
        for module in sorted(self.modules, key=lambda name: name != "std.nn"):  # first what is in scope everywhere
            anchors = Anchors()
            for entry in self.modules[module]:
                entry["anchor"] = anchors.of(entry["short"])
                self.places.setdefault(entry["short"], f"library/{module}.html#{entry['anchor']}")

    def links(self, path):
        """From the page `path`: a declaration's name -> where it is described."""
        return {name: relative(path, place) for name, place in self.places.items()}

    def pages(self, renderer, section):
        made = [_module(module, entries, renderer, section) for module, entries in sorted(self.modules.items())]
        return [_index(made, self.modules, section), *made]


def _index(made, modules, section):
    rows = "".join(f'<tr><td><a href="{relative(INDEX, page.path)}"><code>{page.title}</code></a></td>'
                   f'<td>{len(modules[page.title])}</td><td>{_kinds(modules[page.title])}</td></tr>\n' for page in made)
    page = Page(INDEX, "Standard library", section, source="stdlib")
    page.body = ("<h1>Standard library</h1>\n<p>What <code>tbemc doc --all</code> prints: each public declaration with its "
                 "documentation and its text, which is the only definition of its shape, cost, gradient and meaning.</p>\n"
                 '<table><thead><tr><th scope="col">module</th><th scope="col">declarations</th><th scope="col">what it has'
                 f"</th></tr></thead><tbody>\n{rows}</tbody></table>\n")
    page.parts = [Part("", page.title, " ".join(f"{name} {_kinds(entries)}" for name, entries in modules.items()))]
    return page


def _module(module, entries, renderer, section):
    page = Page(f"library/{module}.html", module, section, source="stdlib")
    rows, bodies = [], []
    page.parts = [Part("", module, _kinds(entries))]
    for entry in entries:
        name, sentence = html.escape(entry["short"]), renderer.parser.renderInline(first_sentence(entry["documentation"]))
        rows.append(f'<tr><td><a href="#{entry["anchor"]}"><code>{name}</code></a></td><td>{entry["what"]}</td>'
                    f"<td>{sentence}</td></tr>\n")
        text = "\n\n".join(_paragraphs(entry["documentation"]))
        bodies.append(f'<h2 id="{entry["anchor"]}"><code>{name}</code> <small>{entry["what"]}</small></h2>\n'
                      f'{renderer.parser.render(text, {"path": page.path})}'
                      f'{renderer.block(entry["definition"], "tbem", page.path)}')
        page.headings.append(Heading(2, entry["anchor"], entry["short"]))
        page.parts.append(Part(entry["anchor"], entry["short"], f'{entry["what"]} {entry["documentation"]} {entry["definition"]}'))
    page.body = (f"<h1><code>{module}</code></h1>\n<p>{_kinds(entries)}.</p>\n"
                 '<div class="table" role="region" aria-label="declarations" tabindex="0"><table><thead><tr><th scope="col">name'
                 f'</th><th scope="col">kind</th><th scope="col">what it is</th></tr></thead><tbody>\n{"".join(rows)}</tbody>'
                 f"</table></div>\n{''.join(bodies)}")
    return page


def _kinds(entries):
    """How many of what it has: "149 operators, 15 blocks"."""
    counts = Counter(entry["what"] for entry in entries).most_common()
    return ", ".join(f"{count} {what}{'s' if count > 1 else ''}" for what, count in counts)


def _paragraphs(text):
    return [part for part in re.split(r"\n\s*\n", text) if part.strip()]
