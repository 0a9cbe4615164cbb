"""Checks a log against what SARIF 2.1.0 (OASIS 2020) requires of the objects that are used here, and its regions against the text.

sarif.py FILE.sarif [CODE...]: the codes that the results are to have, in any order.
"""
import json
import pathlib
import sys
import urllib.parse

REQUIRED = {  # section: object, its required properties, all that are used here with their types
    "log": ({"version": str, "runs": list}, {"$schema": str}),
    "run": ({"tool": dict}, {"results": list, "columnKind": str}),
    "tool": ({"driver": dict}, {}),
    "driver": ({"name": str}, {"version": str, "rules": list}),
    "rule": ({"id": str}, {"name": str, "shortDescription": dict, "help": dict, "defaultConfiguration": dict}),
    "configuration": ({}, {"level": str}),
    "text": ({"text": str}, {"markdown": str}),
    "message": ({"text": str}, {}),
    "result": ({"message": dict}, {"ruleId": str, "ruleIndex": int, "level": str, "locations": list, "relatedLocations": list,
                                  "fixes": list}),
    "location": ({}, {"physicalLocation": dict, "message": dict}),
    "physicalLocation": ({}, {"artifactLocation": dict, "region": dict}),
    "artifactLocation": ({}, {"uri": str}),
    "region": ({}, {"startLine": int, "startColumn": int, "endLine": int, "endColumn": int}),
    "fix": ({"artifactChanges": list}, {}),
    "artifactChange": ({"artifactLocation": dict, "replacements": list}, {}),
    "replacement": ({"deletedRegion": dict}, {"insertedContent": dict}),
}
LEVELS = {"none", "note", "warning", "error"}


def check(kind, value):
    required, others = REQUIRED[kind]
    assert isinstance(value, dict), (kind, value)
    for name in required:
        assert name in value, f"{kind} lacks {name}: {value}"
    for name, content in value.items():
        wanted = {**required, **others}.get(name)
        assert wanted, f"{kind} has {name}"
        assert isinstance(content, wanted) and not isinstance(content, bool), (kind, name, content)
    return value


def region(value, uri):
    check("region", value)
    lines = pathlib.Path(urllib.parse.unquote(uri.removeprefix("file://"))).read_text(encoding="utf-8").split("\n")
    if "startColumn" not in value:  # a line of a model, whole
        assert list(value) == ["startLine"] and 1 <= value["startLine"] <= len(lines), value
        return
    begin, end = (value["startLine"], value["startColumn"]), (value["endLine"], value["endColumn"])
    assert (1, 1) <= begin <= end, value
    for line, column in (begin, end):
        assert line <= len(lines) + 1, value
        assert column <= (len(lines[line - 1]) if line <= len(lines) else 0) + 1, (value, lines[line - 1])


def location(value):
    check("location", value)
    place = check("physicalLocation", value["physicalLocation"])
    uri = check("artifactLocation", place["artifactLocation"])["uri"]
    assert uri == urllib.parse.quote(urllib.parse.unquote(uri), safe="/:~"), uri
    region(place["region"], uri)


log = check("log", json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))
assert log["version"] == "2.1.0", log["version"]
codes, fixed, related = [], 0, 0
for run in log["runs"]:
    check("run", run)
    assert run["columnKind"] == "unicodeCodePoints"
    rules = check("driver", check("tool", run["tool"])["driver"])["rules"]
    for one in rules:
        check("rule", one)
        check("text", one["shortDescription"])
        check("text", one["help"])
        assert check("configuration", one["defaultConfiguration"])["level"] in LEVELS
        assert one["shortDescription"]["text"] and one["help"]["text"].startswith(f"# {one['id']}: ")
    assert len({one["id"] for one in rules}) == len(rules)
    for one in run["results"]:
        check("result", one)
        check("message", one["message"])
        assert one["level"] in LEVELS and rules[one["ruleIndex"]]["id"] == one["ruleId"], one
        codes.append(one["ruleId"])
        for place in one["locations"]:
            location(place)
        for place in one.get("relatedLocations", []):
            location(place)
            check("message", place["message"])
            related += 1
        for fix in one.get("fixes", []):
            fixed += 1
            assert check("fix", fix)["artifactChanges"]
            for change in fix["artifactChanges"]:
                check("artifactChange", change)
                assert change["replacements"]
                for each in change["replacements"]:
                    check("replacement", each)
                    region(each["deletedRegion"], change["artifactLocation"]["uri"])
                    assert set(each["insertedContent"]) == {"text"}
assert sorted(codes) == sorted(sys.argv[2:]), codes
print(f"{len(log['runs'])} runs, {len(codes)} results, {related} related places, {fixed} fixes")
