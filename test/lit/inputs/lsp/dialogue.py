#!/usr/bin/env python3
"""What an editor asks in one session with a program, and what comes of the answers: dialogue.py TBEMC FOLDER."""
import json
import pathlib
import subprocess
import sys

import client as lsp

TBEMC, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
TEXT = """import std.vision: small_vgg

/// Doubles its input (\u00e9: two bytes, \U00010400: two units of UTF-16).
block twice(x: tensor[n, c]; gain: int = 2) -> tensor[n, c] {
  let y = gain * x
  return y
}

network net(x: tensor[n, c]) -> tensor[n, 4] {
  return dens(twice(x,gain: 3), 4)
}

design sizes of net {
  factor batch: 2, 4
  input x: [batch, 3]
}
"""


def check(text):
    path = FOLDER / "checked.tbem"
    path.write_text(text, encoding="utf-8")
    return subprocess.run([TBEMC, "check", str(path), "--quiet"], stderr=subprocess.DEVNULL, check=False).returncode


def run(command, text):
    path = FOLDER / "given.tbem"
    path.write_text(text, encoding="utf-8")
    return subprocess.run([TBEMC, *command, str(path)], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def main(client):
    uri = (FOLDER / "net.tbem").as_uri()
    text = TEXT

    def ask(method, at=None, **more):
        parameters = {"textDocument": {"uri": uri}, **more}
        if at is not None:
            assert text.count(at) == 1, at
            parameters["position"] = lsp.place(text, text.index(at))
        return client.ask("textDocument/" + method, parameters)

    print("offers:", *sorted(client.capabilities))
    client.open(uri, text)
    diagnostics = client.diagnostics(uri, 1)
    print("told:", [(one["code"], text[lsp.offset(text, one["range"]["start"]):lsp.offset(text, one["range"]["end"])])
                    for one in diagnostics])
    actions = ask("codeAction", range=diagnostics[0]["range"], context={"diagnostics": diagnostics})["result"]
    print("fix:", actions[0]["title"], "preferred" if actions[0]["isPreferred"] else "offered")
    edits = actions[0]["edit"]["changes"][uri]
    client.change(uri, 2, [{"range": edits[0]["range"], "text": edits[0]["newText"]}])
    text = lsp.applied(text, edits)
    print("then told:", client.diagnostics(uri, 2), "and check ends with", check(text))

    print("hover:", ask("hover", "twice(x,gain")["result"]["contents"]["value"].replace("\n", " | "))
    print("hover on a word:", ask("hover", "return dense")["result"]["contents"]["value"].replace("\n", " | "))
    print("hover on nothing:", ask("hover", "{\n  let y")["result"])
    print("completion:", [one["label"] for one in ask("completion", "gain: 3")["result"]["items"][:2]])
    library = ask("definition", "dense(")["result"][0]
    path = pathlib.Path(library["uri"].removeprefix("file://"))
    lines = path.read_text(encoding="utf-8").split("\n")
    signature = ask("signatureHelp", " 3), 4")["result"]
    label, (begin, end) = signature["signatures"][0]["label"], signature["signatures"][0]["parameters"][signature["activeParameter"]]["label"]
    print("signature:", label, "|", label[begin:end], "|", signature["signatures"][0]["documentation"]["value"].split(" (")[0])
    print("definition:", path.relative_to(path.parent.parent), "|", lines[library["range"]["start"]["line"]][:15])
    client.open(library["uri"], path.read_text(encoding="utf-8"))
    print("the library:", client.diagnostics(library["uri"], 1))
    client.tell("textDocument/didClose", {"textDocument": {"uri": library["uri"]}})
    print("references:", len(ask("references", "gain: int", context={"includeDeclaration": True})["result"]), "and without the declaration",
          len(ask("references", "gain: int", context={"includeDeclaration": False})["result"]))
    print("highlights:", [text[lsp.offset(text, one["range"]["start"]):][:5] for one in ask("documentHighlight", "y = gain")["result"]])

    print("rename:", ask("prepareRename", "dense(")["error"]["message"], "|", ask("rename", "gain: int", newName="x")["error"]["message"])
    renamed = lsp.applied(text, ask("rename", "gain: int", newName="factor_of")["result"]["changes"][uri])
    print("renamed:", renamed.count("factor_of"), "places, check ends with", check(renamed))
    formatted = lsp.applied(text, ask("formatting", options={"tabSize": 2, "insertSpaces": True})["result"])
    print("formatted:", "as fmt does" if formatted == run(["fmt"], text) and formatted != text else "OTHERWISE")

    print("outline:", [(one["detail"], one["name"], len(one.get("children", []))) for one in ask("documentSymbol")["result"]])
    print("folds:", [(one["startLine"], one["endLine"]) for one in ask("foldingRange")["result"]])
    data = ask("semanticTokens/full")["result"]["data"]
    print("tokens:", len(data) // 5, "and a rest of", len(data) % 5)

    print("not open:", client.ask("textDocument/hover", {"textDocument": {"uri": "file:///none"}, "position": {"line": 0, "character": 0}})[
        "error"]["message"])
    print("no position:", client.ask("textDocument/hover", {"textDocument": {"uri": uri}})["error"]["code"])
    print("not served:", client.ask("textDocument/moniker", {})["error"])
    client.send(b"{nothing")
    print("no JSON:", client.answer(None)["error"])
    client.tell("$/setTrace", {"value": "off"})
    client.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 3}})
    print("wrong notice:", client.wait("window/logMessage")["params"]["type"])
    client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    print("closed:", client.wait("textDocument/publishDiagnostics")["params"]["diagnostics"])
    print("initialized twice:", client.ask("initialize", {})["error"]["message"])


with lsp.Client(TBEMC) as opened:
    main(opened)
    kept = opened
print("exit behind shutdown:", kept.process.returncode)
for messages, how in (([{"method": "exit"}], "exit alone"), ([], "the end of the input"),
                      ([{"id": 1, "method": "textDocument/hover", "params": {}}, {"method": "exit"}], "a question first")):
    process = subprocess.Popen([TBEMC, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stream = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream += b"Content-Length: %d\r\n\r\n" % len(body) + body
    output = process.communicate(stream, timeout=60)[0]
    print(f"{how}: {process.returncode} {output.partition(b'message')[2].decode()}")
