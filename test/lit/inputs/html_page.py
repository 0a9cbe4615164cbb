#!/usr/bin/env python3
"""Checks a page of `tbemc report`: elements are closed in order, names of places are there once, links lead to one, headers of tables
have a scope, pictures a title, nothing is loaded from elsewhere. Prints headings, captions and rows as text. usage: html_page.py PAGE.html
"""
import html.parser
import re
import sys

VOID = {"meta", "br", "link", "img", "input", "hr", "col"}
# of SVG: written as <rect .../>
LOADS = {"src", "srcset", "data", "poster", "action", "background"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.counts, self.lines, self.text = [], [], [], {}, [], ""
        self.titled = []

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        values = dict(attributes)
        assert len(values) == len(attributes), f"<{tag}> has an attribute twice"
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a":
            self.links.append(values["href"])
        if tag == "th":
            assert values.get("scope") in ("row", "col"), "a header of a table has no scope"
        if tag == "svg":
            self.titled.append(False)
        if tag == "title" and "svg" in self.open:
            self.titled[-1] = True
        assert not LOADS & values.keys() and tag not in ("link", "iframe", "object", "embed", "img"), f"<{tag}> loads something"
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2", "caption", "tr", "p"):
            self.text = ""

    def handle_startendtag(self, tag, attributes):
        assert "svg" in self.open or tag in VOID, f"<{tag}/> is no HTML"
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes <{self.open[-1] if self.open else ''}>"
        self.open.pop()
        if tag in ("td", "th"):
            self.text += " | "
        if tag in ("h1", "h2", "caption", "tr", "p") and "svg" not in self.open:
            self.lines.append(f"{tag}: {self.text}")

    def handle_data(self, data):
        self.text += data


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    assert text.startswith("<!DOCTYPE html>\n")
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    assert len(set(page.ids)) == len(page.ids), "a place has the name of another"
    for link in page.links:
        assert link.startswith("#") and link[1:] in page.ids, f"{link} leads nowhere"
    assert all(page.titled), "a picture without a title"
    assert re.sub(r'xmlns="[^"]*"', "", text).find("://") < 0, "something from elsewhere"
    assert not any(ord(c) < 32 and c not in "\n" for c in text)
    print("\n".join(page.lines))
    links = [link for link in page.links if link.startswith("#t")]
    print(f"{page.counts.get('svg', 0)} plots, {page.counts.get('table', 0)} tables, {len(links)} links from plots to rows")


if __name__ == "__main__":
    main()
