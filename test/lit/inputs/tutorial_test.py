"""tutorial.py on small pages that are right or wrong: tutorial_test.py TBEMC TUTORIAL_PY"""
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = "network n(x: tensor[b, c]) -> tensor[b, c] { return relu(x) }\n"
SHOWN = f"```tbem n.tbem\n{PROGRAM}```\n"


def block(text, words=""):
    return f"```console{words}\n{text}\n```\n"


# What the page has, and what is said of it; None: nothing, it is right.
PAGES = [
    (SHOWN + block("$ echo one\none"), None),
    (SHOWN + block("$ echo one\ntwo"), "-two\n+one"),
    (SHOWN + block("$ printf 'a\\nb\\nc\\n'\na\n...\nc"), None),
    (SHOWN + block("$ printf 'a\\nb\\nc\\n'\na\n..."), None),
    (SHOWN + block("$ printf 'a\\nb\\nc\\n'\n...\nb"), "prints something else"),
    (SHOWN + block("$ echo row 1 '  '27.5 ms\nrow 1 3.125 s", " measured"), None),
    (SHOWN + block("$ echo row 1 27.5 ms\nrow 2 27.5 ms", " measured"), "prints something else"),
    (SHOWN + block("$ echo row -1 27.5 ms 0\nrow 2 4 us 64", " measured=all"), None),
    (SHOWN + block("$ echo row 1 27.5 ms\nrow 1 27.6 ms"), "prints something else"),
    (SHOWN + block("$ false"), "ended with status 1, not 0"),
    (SHOWN + block("$ tbemc check nothing.tbem > said\n$ tbemc check n.tbem\n...", " status=3"), "ended with status"),
    (SHOWN.replace("relu", "gelu") + block("$ true"), "the program is not what n.tbem has"),
    (SHOWN + block("$ true") + block("$ python -m nothing\nit", " needs=frameworks"), None),
    (SHOWN + block("$ true", " needs=framework"), "a block of commands is"),
]


def main():
    tbemc, checker = sys.argv[1:]
    good = 0
    for text, wanted in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "n.tbem").write_text(PROGRAM, encoding="utf-8")
            (pathlib.Path(folder) / "page.md").write_text("# A page\n\n" + text, encoding="utf-8")
            done = subprocess.run([sys.executable, checker, tbemc, folder], check=False, capture_output=True, encoding="utf-8")
        if (done.returncode == 0) == (wanted is None) and (wanted or "0 differ") in done.stdout:
            good += 1
        else:
            print(f"{text}\ngave status {done.returncode} and\n{done.stdout}{done.stderr}")
    print(f"{good} pages as they should be")


if __name__ == "__main__":
    main()
