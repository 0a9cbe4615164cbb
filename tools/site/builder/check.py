"""Whether all links of the finished pages lead to something, anchors too, and nothing comes from elsewhere."""
import posixpath
from html.parser import HTMLParser
from urllib.parse import unquote

LOADS = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "audio": "src", "video": "src",
         "object": "data", "embed": "src"}


class PageReader(HTMLParser):
    """The anchors of a page, its links, what it loads, and its headings."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.levels, self.without_alt = [], [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADS and LOADS[tag] in given:
            self.loads.append(given[LOADS[tag]])
        if tag == "img" and not (given.get("alt") or "").strip():
            self.without_alt += 1
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self.levels.append(int(tag[1]))


def _external(link):
    return link.startswith(("http:", "https:", "mailto:", "//")) or link.partition(":")[0] in ("data", "javascript", "ftp")


def links(files):
    """`files`: path -> text of a page, or None for a file that is no page. Returns what is wrong, a line each."""
    readers = {path: PageReader(text) for path, text in files.items() if text is not None}
    wrong = []
    for path, reader in sorted(readers.items()):
        for anchor in sorted({anchor for anchor in reader.ids if reader.ids.count(anchor) > 1}):
            wrong.append(f"{path}: two places have the anchor #{anchor}")
        for link in reader.loads + reader.links:
            if _external(link):
                if link in reader.loads:
                    wrong.append(f"{path}: loads {link}, which is not of the site")
                continue
            target, _, anchor = unquote(link).partition("#")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            if there not in files:
                wrong.append(f"{path}: the link {link} leads to {there}, which does not exist")
            elif anchor and (there not in readers or anchor not in readers[there].ids):
                wrong.append(f"{path}: the link {link} leads to #{anchor}, and {there} has no such heading")
    return wrong
