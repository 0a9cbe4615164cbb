"""The extension for VS Code: its files say what VS Code's documentation lists, and name what there is. Its expressions
are JavaScript's; those that are here are Python's too. vscode_test.py ROOT"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True

import tokens

ROOT = pathlib.Path(sys.argv[1])
FOLDER = ROOT / "tools/editors/vscode"
MANIFEST = {"name", "displayName", "description", "version", "publisher", "license", "private", "engines", "categories",
            "main", "activationEvents", "capabilities", "contributes", "scripts", "dependencies", "devDependencies"}
CONTRIBUTES = {
    "languages": {"id", "aliases", "extensions", "configuration"}, "grammars": {"language", "scopeName", "path"},
    "commands": {"command", "title", "category"},
}
SETTING = {"type", "default", "description", "enum", "scope"}
CONFIGURATION = {"comments", "brackets", "autoClosingPairs", "autoCloseBefore", "surroundingPairs", "folding",
                 "wordPattern", "indentationRules", "onEnterRules"}
TYPES = {"string": str, "boolean": bool}
errors = []


def expect(holds, message):
    if not holds:
        errors.append(message)


def known(keys, listed, what):
    expect(set(keys) <= listed, f"{what}: VS Code knows no {', '.join(sorted(set(keys) - listed))}")


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def check_manifest(manifest):
    known(manifest, MANIFEST, "package.json")
    for key in ("name", "version", "publisher", "engines", "contributes", "main"):
        expect(key in manifest, f"package.json has no {key}")
    expect(re.fullmatch(r"[a-z0-9-]+", manifest["name"]), "the name")
    expect(re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"]), "the version")
    expect(re.fullmatch(r"\^\d+\.\d+\.\d+", manifest["engines"]["vscode"]), "engines.vscode")
    expect((FOLDER / manifest["main"]).is_file(), "main names no file")
    contributes = manifest["contributes"]
    known(contributes, {*CONTRIBUTES, "configuration", "configurationDefaults"}, "contributes")
    for kind, keys in CONTRIBUTES.items():
        for one in contributes[kind]:
            known(one, keys, kind)
            for path in (one[key] for key in ("configuration", "path") if key in one):
                expect(path.startswith("./") and (FOLDER / path).is_file(), f"{kind}: there is no {path}")
    [language], [grammar] = contributes["languages"], contributes["grammars"]
    expect(language["id"] == grammar["language"] == "tbem" and language["extensions"] == [".tbem"], "the language")
    expect(load(FOLDER / grammar["path"])["scopeName"] == grammar["scopeName"], "the grammar's scope")
    expect(manifest["activationEvents"] == ["onLanguage:tbem"], "when it is activated")
    expect(set(contributes["configurationDefaults"]) == {"[tbem]"}, "defaults of another language")
    for name, setting in contributes["configuration"]["properties"].items():
        known(setting, SETTING, name)
        default = setting["default"]
        expect(name.startswith("tbem.") and isinstance(default, TYPES[setting["type"]]), f"the default of {name}")
        expect("enum" not in setting or default in setting["enum"], f"the default of {name} is none of its values")


def check_program(manifest):
    program = (FOLDER / manifest["main"]).read_text(encoding="utf-8")
    properties = manifest["contributes"]["configuration"]["properties"]
    read = re.findall(r"settings\(\)\.get\('([\w.]+)'\)", program)
    expect(set(read) == {"path", "server.enabled"}, f"settings that are read: {read}")
    expect(all(f"tbem.{name}" in properties for name in read), "a setting that is read is not declared")
    libraries = {name.split("/")[0] for name in re.findall(r"require\('([^']+)'\)", program)}
    expect(libraries == {"vscode", *manifest["dependencies"]}, f"libraries: {libraries}")
    registered = set(re.findall(r"registerCommand\('([\w.]+)'", program))
    expect(registered == {one["command"] for one in manifest["contributes"]["commands"]}, f"commands: {registered}")
    expect("args: ['lsp']" in program, "it does not start `tbemc lsp`")


def check_configuration(configuration):
    known(configuration, CONFIGURATION, "language-configuration.json")
    expect(configuration["comments"] == {"lineComment": "//", "blockComment": ["/*", "*/"]}, "comments")
    for key in ("brackets", "surroundingPairs"):
        expect(all(len(pair) == 2 for pair in configuration[key]), key)
    for pair in configuration["autoClosingPairs"]:
        known(pair, {"open", "close", "notIn"}, "autoClosingPairs")
    rules = configuration["indentationRules"]
    known(rules, {"increaseIndentPattern", "decreaseIndentPattern"}, "indentationRules")
    for rule in configuration["onEnterRules"]:
        known(rule, {"beforeText", "action"}, "onEnterRules")
        known(rule["action"], {"indent", "appendText"}, "onEnterRules")
        re.compile(rule["beforeText"])
    check_lines(configuration["folding"]["markers"], rules, configuration["wordPattern"])


def check_lines(markers, rules, word):
    """Folding marks begin and end processes; below a line that opens a brace the next is indented, and `}` is not."""
    words, folds, indented = tokens.classes(ROOT / "grammar/keywords.txt"), 0, 0
    for path in [*sorted((ROOT / "examples").rglob("*.tbem")), *sorted((ROOT / "test/lit").glob("*.tbem"))]:
        text = path.read_text(encoding="utf-8")
        found = tokens.tokens(text, words)
        lines = text.split("\n")
        for marker, name in ((markers["start"], "process"), (markers["end"], "end_process")):
            marked = [number for number, line in enumerate(lines) if re.search(marker, line)]
            meant = [text.count("\n", 0, token.begin) for token in found
                     if token.text == name and token.kind in ("declaration", "header")]
            expect(marked == meant, f"{path}: `{name}` folds lines {marked}, not {meant}")
            folds += len(marked)
        for line, following in zip(lines, lines[1:]):
            if re.search(rules["increaseIndentPattern"], line) and line.endswith("{") and following.strip():
                indented += 1
                closes = re.match(rules["decreaseIndentPattern"], following)
                deeper = len(following) - len(following.lstrip()) == len(line) - len(line.lstrip()) + 2
                expect(deeper or closes, f"{path}: below `{line}` is `{following}`")
            expect(line.strip() != "}" or re.match(rules["decreaseIndentPattern"], line), f"{path}: `{line}`")
        names = [token.text for token in found if token.kind == "NAME"]
        expect(all(re.fullmatch(word, name) for name in names), f"{path}: a name is no word")
    expect(folds > 30 and indented > 40, f"{folds} marks, {indented} indented lines")


check_manifest(load(FOLDER / "package.json"))
check_program(load(FOLDER / "package.json"))
check_configuration(load(FOLDER / "language-configuration.json"))
print(*errors, sep="\n")
sys.exit(1 if errors else 0)
