#!/usr/bin/env python3
"""Holds lines of --json, on standard input, against docs/schemas: json_schemas.py FOLDER. With --each, every schema must be used."""
import collections
import json
import pathlib
import sys

import jsonschema

ENDING = ".schema.json"
validators = {}
for path in pathlib.Path(sys.argv[1]).glob("*" + ENDING):
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validators[path.name[:-len(ENDING)]] = jsonschema.Draft202012Validator(schema)

counts = collections.Counter()
for line in sys.stdin:
    printed = json.loads(line)
    for error in validators[printed["kind"]].iter_errors(printed):
        sys.exit(f"{printed['kind']}: {'.'.join(map(str, error.absolute_path))}: {error.message}")
    counts[printed["kind"]] += 1
LIBRARY = {"imported"}  # what no command prints, but tbem_import gives: package_models.py reads it
if "--each" in sys.argv and set(validators) - LIBRARY != set(counts):
    sys.exit(f"nothing prints {sorted(set(validators) - LIBRARY - set(counts))}")
print(f"{sum(counts.values())} objects of {len(counts)} kinds: as described")
