"""A client of `tbemc lsp`: sends and reads messages of the Language Server Protocol, counts places in code points."""
import json
import subprocess
import time

CAPABILITIES = {"workspace": {"inlayHint": {"refreshSupport": True}, "codeLens": {"refreshSupport": True}},
                "window": {"workDoneProgress": True}}


class Client:
    """Use as `with Client(tbemc) as client`; at the end the server is shut down, and must end with 0."""

    def __init__(self, tbemc, encodings=("utf-32",)):
        self.process = subprocess.Popen([tbemc, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        self.told = []
        self.open_progress = set()
        self.first = None  # when the diagnostics of the version that was waited for last were told first
        said = self.ask("initialize", {"capabilities": {"general": {"positionEncodings": list(encodings)}, **CAPABILITIES}})
        self.capabilities = said["result"]["capabilities"]
        self.tell("initialized", {})
        # It is answered before anything is checked, so that every long check shows its progress.
        self.wait("window/workDoneProgress/create")

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
        message = json.loads(self.process.stdout.read(length))
        if "id" in message and "method" in message:
            self.send({"id": message["id"], "result": None})
        return message

    def wait(self, method):
        """The next message of this method, among those that came or to come; what came before it stays."""
        while True:
            for i, message in enumerate(self.told):
                if message.get("method") == method:
                    return self.told.pop(i)
            self.told.append(self.read())

    def ask(self, method, parameters):
        """The whole answer: with `result` or `error`."""
        self.last += 1
        self.send({"id": self.last, "method": method, "params": parameters})
        return self.answer(self.last)

    def answer(self, to):
        """The next message that answers this id."""
        while "method" in (message := self.read()) or message["id"] != to:
            self.told.append(message)
        return message

    def tell(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def open(self, uri, text, version=1):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "tbem", "version": version, "text": text}})

    def change(self, uri, version, changes):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes})

    def diagnostics(self, uri, version):
        """Waits for those of this version that are told at last. Of a long check some are told before, while it shows progress."""
        self.first = None
        while True:
            told, self.told = self.told, []
            for message in told:
                assert message["method"] != "window/logMessage", message
                parameters = message.get("params") or {}
                if message["method"] == "$/progress":
                    (self.open_progress.add if parameters["value"]["kind"] == "begin" else self.open_progress.discard)(parameters["token"])
                if message["method"] != "textDocument/publishDiagnostics" or parameters["uri"] != uri or parameters.get("version") != version:
                    continue
                self.first = self.first or time.monotonic()
                if not self.open_progress:
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
