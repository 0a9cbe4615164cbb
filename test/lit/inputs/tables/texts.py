"""Tables that `tbemc` prints for people, read back: in text, in CSV, in Markdown and on a page. Cells stay text."""

import csv
import html.parser
import io
import re


class Table:
    """Titles of columns and cells as text. `title`: the line above, or ""."""

    def __init__(self, title, columns, rows):
        self.title, self.columns, self.rows = title, columns, rows
        if len(set(columns)) != len(columns):
            raise ValueError(f"two columns have one title: {columns}")


def is_rule(line):
    return line != "" and not line.strip("─")


def text_tables(text):
    """Tables of a terminal: a title or none, the heads, a rule, rows, an empty line. A blank of two columns or more through
    all lines stands between two columns; inside one there is none, since its numbers stand below each other."""
    lines, tables, at = text.split("\n"), [], 0
    while at < len(lines):
        if not is_rule(lines[at]):
            at += 1
            continue
        end = at
        while end < len(lines) and lines[end] != "":
            end += 1
        body = [line for line in lines[at - 1 : end] if not is_rule(line)]
        width = max(map(len, body))
        body = [line.ljust(width) for line in body]
        blank = "".join(" " if all(line[i] == " " for line in body) else "x" for i in range(width))
        spans = [match.span() for match in re.finditer(r"x+(?: x+)*", blank)]
        # numbers are aligned at their points, so spaces may stand before a unit
        cells = [
            [re.sub(r"^(-?\d[^ ]*) +", r"\1 ", line[begin:stop].strip(" ")) for begin, stop in spans] for line in body
        ]
        tables.append(Table(lines[at - 2] if at > 1 else "", cells[0], cells[1:]))
        at = end
    return tables


def csv_tables(text):
    rows = list(csv.reader(io.StringIO(text)))
    return [Table("", rows[0], rows[1:])]


def markdown_tables(text):
    """Those of a page; tables with the same columns are one, in several sections."""
    tables = []
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        # a bar inside a cell is written \|
        rows = [
            [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in block.splitlines()
        ]
        same = next((table for table in tables if table.columns == rows[0]), None)
        if same is None:
            tables.append(Table("", rows[0], rows[2:]))
        else:
            same.rows += rows[2:]
    return tables


class Page(html.parser.HTMLParser):
    """Tables of a page of `tbemc report`, with their captions."""

    def __init__(self):
        super().__init__()
        self.tables, self.caption, self.rows, self.text = [], "", [], ""

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.caption, self.rows = "", []
        elif tag == "tr":
            self.rows.append([])
        if tag in ("caption", "th", "td"):
            self.text = ""

    def handle_endtag(self, tag):
        if tag == "caption":
            self.caption = self.text
        elif tag in ("th", "td"):
            self.rows[-1].append(self.text)
        elif tag == "table":
            self.tables.append(Table(self.caption, self.rows[0], self.rows[1:]))

    def handle_data(self, data):
        self.text += data


def page_tables(text):
    page = Page()
    page.feed(text)
    page.close()
    return page.tables
