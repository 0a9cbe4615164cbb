"""Answers: JSON lines as `tbemc --json` prints them (docs/json.md), and how a notebook shows them."""
import html
import json
import os


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


def placed(place, files):
    """The place of a model, "model.py:92", with the path of its file below the current folder where that is known."""
    file, _, line = place.rpartition(":")
    path = files.get(file)
    if path is None:
        return place
    inside = os.path.relpath(path)
    return f"{path if inside.startswith('..') else inside}:{line}"


class Findings(Result):
    """Of `check` and `spec`: what is wrong with a program. True where there is no error; `verdict` is False where a condition is
    refuted."""
    files = {}  # of the model, by the names that the program's comments have

    @property
    def places(self):
        """Lines of the model that findings are about, each once."""
        return list(dict.fromkeys(placed(place, self.files) for row in self._of("check") for place in row.get("origins", [])))

    def __bool__(self):
        return not any(row["severity"] == "error" for row in self._of("check"))

    @property
    def budgets(self):
        """The clauses `budget` of designs, each with the figure of the row that takes most and whether it `holds`."""
        return self._of("budget")

    def place_of(self, row):
        """Where a finding or one of its `labels` is: the model's line where the program was written from one, else the program's; ""
        where it has none. A broken budget is at the line of the model that takes most."""
        origin = row.get("origin") or next(iter(row.get("origins", [])), None)
        if origin:
            return placed(origin, self.files)
        return f"{row['file']}:{row['line']}:{row['column']}" if row.get("file") else ""

    def _columns(self):
        rows = [[row["severity"], row["code"], self.place_of(row), "; ".join([row["message"], *row.get("notes", [])])]
                for row in self._of("check")]
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


# Of the bars of a waterfall. Numbers beside them say the same, so that no colour has to be read.
_BAR = "display:inline-block;height:.7em;background:#4269d0;margin-left:{start:.2f}%;width:{width:.2f}%"


class ModelEstimate(Estimate):
    """Of `estimate` in eager PyTorch. The properties are those of the row that takes most."""
    files = {}  # of the model, by the names that the program's comments have

    @property
    def most(self):
        """The line of the row that takes most."""
        rows = [row for row in self._of("pytorch") if row["memory"]["waterfall"]["parts"]]
        if not rows:
            raise ValueError("there is no row of eager PyTorch: look at `rows`")
        return max(rows, key=lambda row: row["memory"].get("reserved") or row["memory"]["live"])

    @property
    def peak(self):
        """Bytes: what is reserved of a GPU, on the processor what is live."""
        memory = self.most["memory"]
        return memory["reserved"] if memory["reserved"] is not None else memory["live"]

    @property
    def allocated(self):
        """Bytes, as torch.cuda.max_memory_allocated counts them; None on the processor."""
        return self.most["memory"]["allocated"]

    @property
    def bounds(self):
        """(at least, at most) in bytes, for other engines of cuDNN and other allocators; None where nothing is known."""
        bounds = self.most["memory"]["bounds"] or {}
        return tuple(bounds[side]["bytes"] if bounds.get(side) else None for side in ("lower", "upper"))

    @property
    def waterfall(self):
        """[(part, bytes or None, whether it is the sum of those before it)]"""
        return [(part["part"], part["bytes"], part["sum"]) for part in self.most["memory"]["waterfall"]["parts"]]

    @property
    def peak_place(self):
        """Where the peak is: the model's line, "FILE.py:92", or the program's; None before the first operator."""
        place = self.most["memory"]["waterfall"]["peak_at"]
        if place.get("origin"):
            return placed(place["origin"], self.files)
        return f"{place['file']}:{place['line']}" if place["file"] else None

    @property
    def table(self):
        """The waterfall as text."""
        rows = [(part, "not measured" if size is None else _size(size)) for part, size, _ in self.waterfall]
        wide, long = (max(len(row[side]) for row in rows) for side in (0, 1))
        return "\n".join(f"{part:<{wide}}  {size:>{long}}" for part, size in rows)

    def _columns(self):
        own = self._of("pytorch")
        if not own or len(own) != len(self.rows):
            return super()._columns()
        rows = []
        for row in own:
            memory = row["memory"]
            sizes = ["" if memory[name] is None else _size(memory[name]) for name in ("live", "allocated", "reserved")]
            rows.append([row["network"], _grouped(row.get("levels")), *sizes])
        return ["network", "levels", "live", "allocated", "reserved"], rows

    def _peak_sentence(self):
        place = self.most["memory"]["waterfall"]["peak_at"]
        if not self.peak_place:
            return f"the peak is in the {place['phase']}"
        return f"the peak is in the {place['phase']}, at {place['operator']}, {self.peak_place}"

    def __str__(self):
        if not self._of("pytorch"):
            return super().__str__()
        lower, upper = self.bounds
        bounds = [f"{word} {_size(size)}" for word, size in (("at least", lower), ("at most", upper)) if size is not None]
        return "\n".join([super().__str__(), "", self.table, "", self._peak_sentence(), *([", ".join(bounds)] if bounds else [])])

    def _repr_html_(self):
        page = super()._repr_html_()
        if not self._of("pytorch"):
            return page
        whole = max([size for _, size, is_sum in self.waterfall if is_sum and size] or [1])
        rows, before = [], 0
        for part, size, is_sum in self.waterfall:
            start = 0 if is_sum else before
            bar = "" if size is None else f'<span style="{_BAR.format(start=100 * start / whole, width=100 * size / whole)}"></span>'
            rows.append(f"<tr><td>{html.escape(part)}</td><td>{'not measured' if size is None else _size(size)}</td>"
                        f'<td style="width:20em;text-align:left">{bar}</td></tr>')
            before = size if is_sum else before + (size or 0)
        return (page + '<table class="tbem"><thead><tr><th>part</th><th>bytes</th><th></th></tr></thead><tbody>' + "".join(rows)
                + f"</tbody></table><p>{html.escape(self._peak_sentence())}</p>")


class WhatIf(Result):
    """Of `what-if`: a line for each device, then one for each change."""

    @property
    def devices(self):
        """Names of those that the step fits."""
        return [row["name"] for row in self._of("what-if") if row["question"] == "device" and row["fits"]]

    @property
    def savings(self):
        """Bytes that each change saves, by its name; what takes more is negative."""
        return {row["name"]: -row["difference"] for row in self._of("what-if") if row["question"] == "change"}

    def _columns(self):
        rows = [[row["question"], row["name"], _size(row["takes"]), "" if "fits" not in row else "yes" if row["fits"] else "no",
                 "" if "difference" not in row else ("-" if row["difference"] < 0 else "+") + _size(abs(row["difference"]))]
                for row in self._of("what-if")]
        return ["", "name", "takes", "fits", "difference"], rows


class Fit(Result):
    """Of `fit`: the largest level of each row. `largest`: that of the only one."""

    @property
    def largest(self):
        rows = self._of("fit")
        if len(rows) != 1:
            raise ValueError(f"there are {len(rows)} rows: look at `rows`")
        return rows[0]["largest"]
