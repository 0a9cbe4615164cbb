"""Answers: JSON lines as `tbemc --json` prints them (docs/json.md), and how a notebook shows them."""
import html
import json


def _grouped(value):
    """Numbers with thin groups of digits, texts as they are."""
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    if isinstance(value, dict):
        return ", ".join(f"{name}={_grouped(each)}" for name, each in value.items())
    return str(value)


def _size(count):
    """Bytes with a unit."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count} B" if unit == "B" else f"{count:.4g} {unit}"
        count /= 1024


def table(titles, rows):
    """An HTML table; every text is escaped."""
    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
    return ("<table class=\"tbem\"><thead>" + row(titles, "th") + "</thead><tbody>" + "".join(row(cells, "td") for cells in rows)
            + "</tbody></table>")


class Result:
    """`rows`: the lines, each as a dict. `notes`: sentences beside them. `verdict`: False where the question's answer is no."""

    def __init__(self, lines, notes="", error="", verdict=True):
        self.json = lines
        self.rows = [json.loads(line) for line in lines.splitlines()]
        self.notes, self.error, self.verdict = notes, error, verdict

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, number):
        return self.rows[number]

    def _of(self, kind):
        return [row for row in self.rows if row["kind"] == kind]

    def _columns(self):
        """Titles and texts of what people read first; by default all fields that are no lists."""
        names = [name for row in self.rows for name in row if name not in ("kind", "schema")]
        names = [name for name in dict.fromkeys(names) if not any(isinstance(row.get(name), list) for row in self.rows)]
        return names, [[_grouped(row.get(name)) for name in names] for row in self.rows]

    def _sentences(self):
        return [text for text in (*self.error.splitlines(), *self.notes.splitlines()) if text]

    def __str__(self):
        titles, rows = self._columns()
        widths = [max(len(str(cell)) for cell in column) for column in zip(titles, *rows)]
        lines = ["  ".join(str(cell).ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in (titles, *rows)]
        return "\n".join((lines if rows else []) + self._sentences())

    def __repr__(self):
        return f"<{type(self).__name__} of {len(self.rows)} lines>" if not self.rows else str(self)

    def _repr_html_(self):
        titles, rows = self._columns()
        text = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self._sentences())
        return (table(titles, rows) if rows else "") + text


class Findings(Result):
    """Of `check`: what is wrong with a program. True where there is no error."""

    def __bool__(self):
        return not any(row["severity"] == "error" for row in self._of("check"))

    def _columns(self):
        rows = [[row["severity"], row["code"], f"{row['file']}:{row['line']}:{row['column']}" if row.get("file") else "",
                 "; ".join([row["message"], *row.get("notes", [])])] for row in self._of("check")]
        return ["", "code", "place", "message"], rows

    def __str__(self):
        return super().__str__() or "nothing to say"


class Estimate(Result):
    """Of `estimate`: one row of the program each."""

    def _columns(self):
        own = self._of("estimate")
        if not own or len(own) != len(self.rows):
            return super()._columns()
        rows = []
        for row in own:
            memory = row.get("memory") or {}
            sizes = [_size(memory[name]) if memory.get(name) is not None else "" for name in ("static", "arena")]
            rows.append([row["design"], _grouped(row.get("levels")), row["network"], _grouped(row["parameters"]),
                         _grouped(row["flops"]["step"]), *sizes])
        return ["design", "levels", "network", "parameters", "FLOPs of a step", "static memory", "arena"], rows


class Fit(Result):
    """Of `fit`: the largest level of each row. `largest`: that of the only one."""

    @property
    def largest(self):
        rows = self._of("fit")
        if len(rows) != 1:
            raise ValueError(f"there are {len(rows)} rows: look at `rows`")
        return rows[0]["largest"]
