"""Pages of the tutorial say what the tool prints: tutorial.py TBEMC FOLDER [PAGE...] [--update] [--python PYTHON]

A block ```console has commands, each on a line that begins with `$ `, and below each what it prints on standard output
and standard error. All commands of a page run in one folder of their own, which begins with the programs that lie
beside the pages.
- `...` on a line of its own stands for any number of lines, none too.
- ```console measured: what is printed depends on the machine. Numbers that have a unit, a fraction or five digits and
  more are compared as `#`, and any number of blanks as one; with measured=all every number.
- ```console status=5: the exit status of the last command; otherwise every command ends with 0.
- ```console needs=frameworks: it is left as it is, unless --python PYTHON names one that has what it needs; that is the environment
  in which all commands run.
A block ```tbem NAME is the file NAME beside the page, in full.
--update puts what the tool prints into blocks that differ and have no `...`, and programs into theirs.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
UNITS = r"(?:[KMGT]i?B|B|[munµ]?s|min|h|[kMGT]?FLOP|%|m?J)"
NUMBER = re.compile(rf"(?<![\w.])[-+]?(?:[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?\s+{UNITS}(?!\w)|[0-9]+\.[0-9]+(?:e[-+]?[0-9]+)?"
                    r"|[0-9]+e[-+]?[0-9]+|[0-9]{5,})(?![\w.]*\w)")
ELISION = "..."
SECONDS = 300


ANY_NUMBER = re.compile(rf"(?<![\w.])[-+]?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?(?:\s+{UNITS}(?!\w))?(?![\w.]*\w)")


def masked(line, number):
    return re.sub(r"[ \t─]+", lambda blank: "─" if "─" in blank.group() else " ", number.sub("#", line)).strip()


def same(said, printed, measured):
    """Whether the lines of a page stand for those that were printed; `measured`: what numbers are not compared, or None."""
    if measured is not None:
        said, printed = [masked(line, measured) for line in said], [masked(line, measured) for line in printed]
    reach = {0}  # how many of the printed lines those of the page so far may stand for
    for line in said:
        if line == ELISION:
            reach = set(range(min(reach), len(printed) + 1)) if reach else set()
        else:
            reach = {at + 1 for at in reach if at < len(printed) and printed[at] == line}
    return len(printed) in reach


def commands_of(text):
    """[(command, what the page says that it prints)] of a block."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            raise SystemExit(f"a block begins with `{line}`, not with a command")
        else:
            found[-1][1].append(line)
    return found


def environment_of(tbemc, python):
    """What commands are run in: `tbemc`, and where a Python is given, that and the package beside the sources."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TBEM_") and name != "COLUMNS"}
    folders = [str(tbemc.parent)]
    if python is not None:
        folders.insert(0, str(python.parent))
        kept |= {"VIRTUAL_ENV": str(python.parent.parent), "PYTHONDONTWRITEBYTECODE": "1",
                 "PYTHONPATH": str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "python"),
                 "TBEM_LIBRARY": str(tbemc.parent.parent / "lib" / "libtbem.so.0")}
    return {**kept, "NO_COLOR": "1", "PATH": os.pathsep.join([*folders, kept.get("PATH", "")])}


class Page:
    def __init__(self, file, folder, environment, update):
        self.file, self.folder, self.environment, self.update, self.errors, self.count = file, folder, environment, update, [], 0
        self.has_frameworks = "TBEM_LIBRARY" in environment
        self.text = file.read_text(encoding="utf-8")

    def error(self, place, message):
        self.errors.append(f"{self.file.name}:{self.text.count(chr(10), 0, place) + 1}: {message}")

    def check(self):
        changed = FENCE.sub(self.block, self.text)
        if self.count == 0 and self.file.name != "README.md":
            self.error(0, "the page has no command")
        if changed != self.text and self.update:
            self.file.write_text(changed, encoding="utf-8")
        return self.errors

    def block(self, match):
        language, words, text = match[1], match[2].split(), match[3]
        if language == "tbem":
            return self.program(match, words, text)
        if language != "console":
            return match[0]
        measured = ANY_NUMBER if "measured=all" in words else NUMBER if "measured" in words else None
        status = next((int(word[7:]) for word in words if word.startswith("status=")), 0)
        if set(words) - {"measured", "measured=all", f"status={status}", "needs=frameworks"}:
            self.error(match.start(), "a block of commands is `measured`, or has a `status=N` or `needs=frameworks`, found "
                       + " ".join(words))
        if "needs=frameworks" in words and not self.has_frameworks:
            return match[0]
        lines, commands = [], commands_of(text)
        for number, (command, said) in enumerate(commands):
            wanted = status if number + 1 == len(commands) else 0
            lines += [f"$ {command}", *self.run(match.start(), command, said, (measured, wanted))]
        return f"```console{match[2]}\n" + "".join(f"{line}\n" for line in lines) + "```"

    def run(self, place, command, said, how):
        """The lines that the page should have below the command."""
        measured, wanted = how
        self.count += 1
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, check=False, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        printed = [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")] if done.stdout.strip() else []
        if done.returncode != wanted:
            self.error(place, f"`{command}` ended with status {done.returncode}, not {wanted}:\n{done.stdout}")
        if same(said, printed, measured):
            return said
        if self.update and ELISION not in said:
            return printed
        self.error(place, f"`{command}` prints something else:\n" + "\n".join(
            difflib.unified_diff(said, printed, "the page", "the tool", lineterm="")))
        return said

    def program(self, match, words, text):
        file = self.file.parent / (words or ["-"])[0]
        if not file.is_file():
            self.error(match.start(), "a program has the name of its file: ```tbem NAME")
            return match[0]
        content = file.read_text(encoding="utf-8")
        if content != text and not self.update:
            self.error(match.start(), f"the program is not what {file.name} has")
        return f"```tbem {file.name}\n{content}```" if self.update else match[0]


def main():
    names = [word for word in sys.argv[1:] if word != "--update"]
    python = None
    if "--python" in names:
        at = names.index("--python")
        python = pathlib.Path(names[at + 1]).absolute()  # not resolved: the environment is that of the link
        del names[at:at + 2]
    tbemc, pages, wanted = pathlib.Path(names[0]).resolve(), pathlib.Path(names[1]), names[2:]
    files = [file for file in sorted(pages.glob("*.md")) if not wanted or file.name in wanted]
    if len(files) < max(1, len(wanted)):
        raise SystemExit(f"{pages} has not all of {wanted}")
    errors, count = [], 0
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            for program in pages.glob("*.tbem"):
                shutil.copy(program, folder)
            page = Page(file, folder, environment_of(tbemc, python), "--update" in sys.argv)
            errors += page.check()
            count += page.count
    shown = "".join(file.read_text(encoding="utf-8") for file in pages.glob("*.md"))
    errors += [f"{program.name}: no page shows it" for program in sorted(pages.glob("*.tbem"))
               if f"```tbem {program.name}\n" not in shown]
    print("\n".join([*errors, f"{len(files)} pages, {count} commands, {len(errors)} differ"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
