"""What the compiler says of its library, its diagnostics and its options."""
import json
import os
import re
import subprocess

from builder.pages import Broken


class Tool:
    def __init__(self, path):
        self.path = path
        # Not another library, no colours, and help of 100 columns.
        hidden = ("TBEM_STDLIB", "TBEM_PATH", "COLUMNS")
        self.environment = {**{name: value for name, value in os.environ.items() if name not in hidden}, "NO_COLOR": "1"}

    def text(self, *arguments):
        command = [str(self.path), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, encoding="utf-8", env=self.environment, check=False,
                                  stdin=subprocess.DEVNULL)
        except OSError as error:
            raise Broken(f"{self.path}: {error.strerror}: build it (tools/build), or name another by --tbemc") from error
        if done.returncode != 0:
            raise Broken(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stderr.rstrip()}")
        return done.stdout

    def _objects(self, *arguments):
        return [json.loads(line) for line in self.text(*arguments, "--json").splitlines()]

    def declarations(self):
        """Every public declaration of the library: `name` with its module, `what`, `documentation`, `definition`."""
        return self._objects("doc", "--all")

    def diagnostics(self):
        """Every diagnostic: `code`, `name`, `severity`, `message`, `text`."""
        return self._objects("explain", "--all")

    def help(self):
        """(command, its one line, its help) of each."""
        listed = re.findall(r"^  ([a-z-]+) {2,}(\S.*(?:\n {20,}\S.*)*)", self.text("--help").partition("Subcommands:")[2],
                            re.MULTILINE)
        if not listed:
            raise Broken(f"{self.path} --help lists no command")
        return [(name, " ".join(line.split()), self.text(name, "--help")) for name, line in listed]
