"""Pages as values: what the other parts make, and what the layout, the search index and the check of links read."""
import re
import unicodedata
from dataclasses import dataclass, field


class Broken(Exception):
    """The site cannot be made; the message says why and what to do."""


@dataclass
class Heading:
    level: int  # 1 to 6
    anchor: str
    text: str


@dataclass
class Part:
    """What a search finds: a page, or what stands below one heading of it."""
    anchor: str  # "" is the page itself
    title: str
    text: str


@dataclass
class Page:
    path: str  # from the folder of the site, "errors/E0302.html"
    title: str
    section: str  # the name of the section that the page is in
    body: str = ""  # HTML, without the frame that all pages have
    headings: list = field(default_factory=list)  # of Heading
    parts: list = field(default_factory=list)  # of Part; none: a search does not find the page
    label: str = ""  # what the navigation calls it; "": the title
    source: str = ""  # the file that it is made from, for messages

    @property
    def name(self):
        return self.label or self.title


@dataclass
class Section:
    name: str
    pages: list = field(default_factory=list)  # of Page, in the order of the navigation
    listed: bool = True  # whether the navigation lists its pages; of the diagnostics there are too many


class Anchors:
    """The anchors of one page, as GitHub makes them: `What --max means` is `what---max-means`, the second `x` is `x-1`."""

    def __init__(self):
        self.used = {}

    def of(self, text):
        slug = "".join(letter for letter in text.strip().lower()
                       if letter in " -_" or unicodedata.category(letter)[0] in "LN").replace(" ", "-") or "part"
        count = self.used.get(slug)
        self.used[slug] = 0 if count is None else count + 1
        return slug if count is None else self.of(f"{slug}-{count + 1}")


def relative(start, target):
    """The link from the page `start` to `target`, both from the folder of the site."""
    here, there = start.split("/")[:-1], target.split("/")
    while here and len(there) > 1 and here[0] == there[0]:
        here, there = here[1:], there[1:]
    return "../" * len(here) + "/".join(there)


def first_sentence(text):
    """Up to the first full stop that ends a sentence, which is none behind an abbreviation or a number."""
    text = " ".join(text.split())
    for match in re.finditer(r"\.(?= [A-Z`]|$)", text):
        if not re.search(r"(?:et al|e\.g|i\.e|[0-9])$", text[:match.start()]) or match.end() == len(text):
            return text[:match.end()]
    return text
