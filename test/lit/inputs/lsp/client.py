"""A client of `tbemc lsp`: sends and reads messages of the Language Server Protocol, counts places in code points."""
import json
import subprocess


class Client:
    """Use as `with Client(tbemc) as client`; at the end the server is shut down, and must end with 0."""

    def __init__(self, tbemc, encodings=("utf-32",)):
        self.process = subprocess.Popen([tbemc, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        self.told = []
        self.capabilities = self.ask("initialize", {"capabilities": {"general": {"positionEncodings": list(encodings)}}})["result"][
            "capabilities"]
        self.tell("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            self.process.kill()
            return
        assert self.ask("shutdown", None) == {"jsonrpc": "2.0", "id": self.last, "result": None}
        self.tell("exit", None)
        assert self.process.wait(60) == 0, self.process.returncode

    def send(self, message):
        text = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def read(self):
        length = None
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise EOFError(f"the server is gone: {self.process.wait(60)}")
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, parameters):
        """The whole answer: with `result` or `error`."""
        self.last += 1
        self.send({"id": self.last, "method": method, "params": parameters})
        while (message := self.read()).get("id") != self.last:
            self.told.append(message)
        return message

    def tell(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def open(self, uri, text, version=1):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "tbem", "version": version, "text": text}})

    def change(self, uri, version, changes):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes})

    def diagnostics(self, uri, version):
        """Waits for those of this version."""
        while True:
            for message in self.told:
                assert message["method"] != "window/logMessage", message
            found = [m["params"] for m in self.told if m["method"] == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri]
            self.told = []
            for parameters in found:
                if parameters.get("version") == version:
                    return parameters["diagnostics"]
            self.told.append(self.read())


def place(text, offset):
    """Of the protocol, in code points."""
    before = text[:offset]
    return {"line": before.count("\n"), "character": offset - (before.rfind("\n") + 1)}


def span(text, begin, end):
    return {"start": place(text, begin), "end": place(text, end)}


def offset(text, position):
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[:position["line"]]) + position["character"]


def applied(text, edits):
    """The text with edits of the protocol, which do not overlap."""
    for edit in sorted(edits, key=lambda one: offset(text, one["range"]["start"]), reverse=True):
        begin, end = offset(text, edit["range"]["start"]), offset(text, edit["range"]["end"])
        text = text[:begin] + edit["newText"] + text[end:]
    return text
