"""The frame that all pages have: sections, the pages of the section, the headings of the page, the search."""
import html

from builder.pages import relative


def document(page, sections):
    def to(path):
        return html.escape(relative(page.path, path))

    section = next((known for known in sections if known.name == page.section or page in known.pages), None)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(_title(page))}</title>
<link rel="stylesheet" href="{to("assets/site.css")}">
<script src="{to("assets/search.js")}" defer></script>
<script src="{to("assets/site.js")}" defer></script>
</head>
<body data-top="{"../" * page.path.count("/")}">
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="home" href="{to("index.html")}">tbemc</a>
<nav aria-label="Sections"><ul>{"".join(_tab(known, section, to) for known in sections)}</ul></nav>
<form class="search" role="search" hidden>
<label for="query">Search</label>
<input id="query" type="search" role="combobox" autocomplete="off" spellcheck="false" aria-expanded="false"
 aria-controls="results" aria-autocomplete="list" placeholder="press / to search">
<ul id="results" role="listbox" aria-label="What is found" hidden></ul>
<p id="said" class="said" role="status"></p>
</form>
</header>
<div class="columns">
<nav class="pages" aria-label="Pages of this section">{_pages(section, page, to)}</nav>
<main id="content" tabindex="-1">
{page.body}{_neighbours(section, page, to)}</main>
<nav class="inside" aria-label="Headings of this page">{_headings(page)}</nav>
</div>
</body>
</html>
"""


def _title(page):
    return "tbemc" if page.path == "index.html" else f"{page.title} - tbemc"


def _tab(known, section, to):
    current = ' aria-current="true"' if known is section else ""
    return f'<li><a href="{to(known.pages[0].path)}"{current}>{html.escape(known.name)}</a></li>'


def _pages(section, page, to):
    if section is None or len(section.pages) < 2:
        return ""
    shown = section.pages if section.listed else [section.pages[0]]
    items = "".join(f'<li><a href="{to(other.path)}"{" aria-current=" + chr(34) + "page" + chr(34) if other is page else ""}>'
                    f"{html.escape(other.name)}</a></li>" for other in shown)
    return f"<details open><summary>{html.escape(section.name)}</summary><ul>{items}</ul></details>"


def _headings(page):
    inner = [heading for heading in page.headings if heading.level in (2, 3)]
    if len(inner) < 2:
        return ""
    items = "".join(f'<li class="h{heading.level}"><a href="#{html.escape(heading.anchor)}">{html.escape(heading.text)}</a></li>'
                    for heading in inner)
    return f"<details open><summary>On this page</summary><ul>{items}</ul></details>"


def _neighbours(section, page, to):
    """The page before and the page after, in the order of the section."""
    if section is None or page not in section.pages or len(section.pages) < 2:
        return ""
    at, links = section.pages.index(page), []
    if at > 0:
        links.append(f'<a rel="prev" href="{to(section.pages[at - 1].path)}">← {html.escape(section.pages[at - 1].name)}</a>')
    if at + 1 < len(section.pages):
        links.append(f'<a rel="next" href="{to(section.pages[at + 1].path)}">{html.escape(section.pages[at + 1].name)} →</a>')
    return f'<nav class="neighbours" aria-label="Neighbouring pages">{"".join(links)}</nav>\n'
