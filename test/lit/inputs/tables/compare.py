#!/usr/bin/env python3
"""Holds the tables of `tbemc` against its `--json`: every command that has both forms runs twice on the same program,
and each cell must say the field that it shows, to half a unit of its last digit.

estimated.py, measured.py and sentences.py say of each column which field it shows, and in which unit. What is not there
fails: a table that a command prints, a column, a kind of `--json`; and so does what is there and is never seen.

usage: compare.py TBEMC SCHEMAS FOLDER [WORD...]    with words only the commands that have one of them
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from fractions import Fraction

import estimated
import measured
from commands import INPUTS, PROGRAMS, RARE, RUNS
from sentences import SENTENCES, SILENT
from units import Quotient, Unsaid

TABLES = {**estimated.TABLES, **measured.TABLES}
# Fields that are there only where they mean something.
OPTIONAL = {"verdict", "reason", "roofline", "checkpoint", "arena_expected"}


class Wrong(Exception):
    """What does not agree, or cannot be compared."""


def at(row, path):
    """The field at `a.b`, `a.0`; null where something on the way is. Of `a,b` both."""
    if "," in path:
        return tuple(at(row, part) for part in path.split(","))
    for name in path.split("."):
        if row is None:
            return None
        if isinstance(row, list):
            row = row[int(name)]
        elif name in row:
            row = row[name]
        elif name in OPTIONAL:
            return None
        else:
            raise Wrong(f"JSON has no field `{name}` of `{path}`")
    return row


def described(schema, path):
    """What docs/schemas says of a field: `a.b`, `a[].b`, `a.0`."""
    for step in re.findall(r"[^.\[\]]+|\[\]", path):
        parts = [schema, *schema.get("anyOf", [])]  # an object, or null
        if step == "[]" or step.isdigit():
            found = [part["items"] for part in parts if "items" in part]
        else:
            found = [part["properties"][step] for part in parts if step in part.get("properties", {})]
        if not found:
            raise Wrong(f"docs/schemas has no `{step}` of `{path}`")
        schema = found[0]
    return schema


def check_map(schemas):
    """The map against the descriptions: each kind has its place; each field that a column names is described, in a unit
    that the column's is for; each word of a title or a line that is read has its field.
    """
    kinds = {
        path.name.removesuffix(".schema.json"): json.loads(path.read_text(encoding="utf-8"))
        for path in schemas.iterdir()
    }
    placed = {table.kind for table in [*TABLES.values(), *SENTENCES.values()]} | set(SILENT)
    if set(kinds) != placed:
        raise Wrong(f"kinds without a place in the tables, or places without a kind: {sorted(set(kinds) ^ placed)}")
    for name, table in [*TABLES.items(), *SENTENCES.items()]:
        groups = set(re.compile(table.title or "").groupindex)
        named = set(table.columns) if name in SENTENCES else {*table.pick, *table.said}
        if groups != named:
            raise Wrong(f"{name}: its words and the fields of its words are not the same: {sorted(groups ^ named)}")
        of_rows = [(table.base + "." + path, unit) for title, (path, unit) in table.columns.items() if title != "*"]
        for path, unit in [*of_rows, *table.pick.values(), *table.said.values()]:
            if "._" in "." + path or "," in path or isinstance(unit, Unsaid):  # made in rows.py, or a pair
                continue
            of_field = described(kinds[table.kind], path).get("unit")
            if of_field not in unit.described:
                raise Wrong(f"{name}: `{path}` is described in {of_field}, and read as {type(unit).__name__}")


class Compared:
    """One command: what it printed, held against its JSON."""

    def __init__(self, run, objects, seen):
        self.run, self.objects, self.seen = run, objects, seen
        self.shown, self.current, self.cells = set(), {}, 0

    def chosen(self, table, groups):
        """The objects that a table or a line is of. One that has its objects' parts is of one object."""
        some = [
            one
            for one in self.objects
            if one["kind"] == table.kind
            and all(one[key] == value for key, value in table.only.items())
            and all(
                groups.get(group) is None or unit.wrong(groups[group], at(one, path)) is None
                for group, (path, unit) in table.pick.items()
            )
        ]
        if not table.each and not table.pick and len(some) > 1 and table.kind in self.current:
            some = [one for one in some if one is self.current[table.kind]]
        if not some or (not table.each and len(some) != 1):
            raise Wrong(f"its title is of {len(some)} objects of {table.kind}")
        self.current[table.kind] = some[-1]
        self.shown.update(map(id, some))
        return some

    def cell(self, name, title, text, path, unit, row, time=None):
        if isinstance(unit, Unsaid):
            return
        more = [time] if isinstance(unit, Quotient) else []
        why = unit.wrong(text, at(row, path), *more)
        if why:
            raise Wrong(f"{name}, column `{title}`: {why} ({path})")
        self.cells += 1
        if text != "":
            self.seen.add((name, title))

    def columns(self, name, table, there, made):
        """Of each column of a printed table: its name in the map, field and unit."""
        found = []
        for title in there.columns:
            if title in table.columns:
                found.append((title, title, *table.columns[title]))
            elif "<factor>" in table.columns and title == made[0]["factor"]:
                found.append((title, "<factor>", *table.columns["<factor>"]))
            elif "*" in table.columns and any(title in row["levels"] for row in made):
                found.append((title, "*", "levels", table.columns["*"][1]))
            else:
                raise Wrong(f"{name}: no field is known for the column `{title}`")
        factors = {factor for row in made for factor in row["levels"]} if "*" in table.columns else set()
        if factors - set(there.columns):
            raise Wrong(f"{name}: no column is of {sorted(factors - set(there.columns))}")
        return found

    def table(self, name, table, there):
        groups = re.fullmatch(table.title, there.title).groupdict() if table.title else {}
        some = self.chosen(table, groups)
        for group, (path, unit) in table.said.items():
            for one in some:
                if groups[group] is not None or at(one, path) not in (None, 0):
                    self.cell(name, "its title", groups[group] or "", path, unit, table.heads(one))
        if table.each:
            made = [table.rows(one, self.objects) for one in some]
        else:
            made = table.rows(some[0], self.objects)
        made = [row for row in made if row is not None]
        if not made or len(made) != len(there.rows) and not (table.key and len(made) > len(there.rows) == 30):
            raise Wrong(f"{name}: {len(there.rows)} rows, and JSON has {len(made)}")
        columns = self.columns(name, table, there, made)
        for texts in there.rows:
            cells = dict(zip(there.columns, texts))
            self.row(name, table, columns, cells, made)
        self.seen.add((name, ""))

    def row(self, name, table, columns, cells, made):
        """One row against the next of JSON, or with a key against the one that it names and fits."""
        wanted, why = made[:1], None
        if table.key:
            wanted = [
                row for row in made if all(cells[title] == at(row, table.columns[title][0]) for title in table.key)
            ]
            if not wanted:
                raise Wrong(f"{name}: JSON has no such row: {cells}")
        for row in wanted:
            try:
                for title, mapped, path, unit in columns:
                    value = row if mapped != "*" else {"levels": row["levels"].get(title)}
                    self.cell(name, mapped, cells[title], path, unit, value, cells.get("time"))
            except Wrong as wrong:
                why = Wrong(f"{wrong} in the row {cells}")
                continue
            made.remove(row)
            return
        raise why

    def sentences(self, name, table, lines):
        found = [match for match in (re.fullmatch(table.title, line) for line in lines) if match]
        some = [one for one in self.objects if one["kind"] == table.kind]
        if not table.each:  # of the row that a table is of
            some = [self.current[table.kind]]
        if not found or len(found) != len(some):
            raise Wrong(f"{name}: {len(found)} lines, and JSON has {len(some)}")
        for match, one in zip(found, some):
            self.shown.add(id(one))
            for group, (path, unit) in table.columns.items():
                self.cell(name, group, match[group] or "", path, unit, one)
        self.seen.add((name, ""))

    def all(self, tables, lines):
        names, done = list(self.run.tables), set()
        for there in tables:
            if self.run.alone and re.fullmatch(self.run.alone, there.title or there.columns[0]):
                continue
            fitting = [
                name
                for name in names
                if TABLES[name].title is None
                and next(iter(TABLES[name].columns)) in (*there.columns[:1], "*")
                or TABLES[name].title
                and re.fullmatch(TABLES[name].title, there.title)
            ]
            if len(fitting) != 1:
                raise Wrong(
                    f"{len(fitting)} tables are known with the title `{there.title}` and columns {there.columns}"
                )
            self.table(fitting[0], TABLES[fitting[0]], there)
            done.add(fitting[0])
        for name in self.run.sentences:
            self.sentences(name, SENTENCES[name], lines)
        if set(names) != done:
            raise Wrong(f"no table was found of {sorted(set(names) - done)}")
        quiet = {*self.run.unshown, *SILENT}
        left = {
            one["kind"]
            for one in self.objects
            if id(one) not in self.shown
            and one["kind"] not in quiet
            and not (one.get("verdict") == "passed" and one["kind"] == "spec_test")
        }
        if left:
            raise Wrong(f"no table and no line has objects of {sorted(left)}")


class Commands:
    """Runs `tbemc`, as wide as a table takes."""

    def __init__(self, tbemc, folder):
        self.tbemc, self.folder = tbemc, folder
        self.environment = {**os.environ, "COLUMNS": "9000"}
        self.environment.setdefault("XDG_CACHE_HOME", os.path.join(folder, "cache"))

    def __call__(self, run, arguments):
        places = {"IN": INPUTS, "TMP": self.folder, "PYTHON": sys.executable}
        name = re.compile(r"\b(IN(?=/)|TMP(?=/)|PYTHON\b)")
        words = [name.sub(lambda found: places[found[0]], word) for word in shlex.split(arguments)]
        done = subprocess.run(
            [self.tbemc, *words],
            env={**self.environment, **run.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in run.codes:
            raise Wrong(f"`tbemc {arguments}` ends with {done.returncode}: {done.stderr}")
        return done.stdout, done.stderr


def compare(run, command, seen):
    # A page is of what was done before; other commands find in a store what the table before them measured.
    first = [command(run, one + " --json")[0] for one in run.json_of]
    text, notes = command(run, f"{run.arguments} --color never {run.also}")
    lines = text.splitlines() + notes.splitlines()
    if run.page:
        text = pathlib.Path(command.folder, run.page.removeprefix("TMP/")).read_text(encoding="utf-8")
    if not run.json_of:
        first = [command(run, f"{run.arguments} --json")[0]]
    objects = [json.loads(line, parse_float=Fraction) for part in first for line in part.splitlines()]
    compared = Compared(run, objects, seen)
    compared.all(run.read(text) if run.tables else [], lines)
    return compared.cells


def main():
    tbemc, schemas, folder = sys.argv[1:4]
    only = sys.argv[4:]
    os.makedirs(folder, exist_ok=True)
    for name, text in PROGRAMS.items():
        pathlib.Path(folder, name).write_text(text, encoding="utf-8")
    command, seen, cells, wrong = Commands(tbemc, folder), set(), 0, []
    try:
        check_map(pathlib.Path(schemas))
    except Wrong as why:
        wrong.append(str(why))
    for run in RUNS:
        if only and not any(word in run.arguments for word in only):
            continue
        try:
            cells += compare(run, command, seen)
        except Wrong as why:
            wrong.append(f"tbemc {run.arguments} {run.also}: {why}")
        except (ValueError, KeyError) as why:  # a field that is not there, values that rows.py does not find to agree
            wrong.append(f"tbemc {run.arguments} {run.also}: {why!r}")
    known = {
        (name, title)
        for name, table in [*TABLES.items(), *SENTENCES.items()]
        for title, (_, unit) in table.columns.items()
        if not isinstance(unit, Unsaid)
    }
    if not only and known - seen - RARE:
        wrong.append(f"never seen: {sorted(known - seen - RARE)}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len({name for name, _ in seen})} tables and lines of {len(RUNS)} commands, {cells} cells: as in JSON")


if __name__ == "__main__":
    main()
