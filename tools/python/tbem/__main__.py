"""python -m tbem check SPECIFICATIONS.. [options of `tbemc spec`]: proofs of what programs declare of a repository's models.

The models are those of [tool.tbem.models] in pyproject.toml. They are exported, then `tbemc spec` answers: its output, its --sarif
and its exit status (0: nothing is wrong, 1: a program has errors, 2: usage, 3: the machine lacks something, 5: a condition is
refuted); of several programs the greatest. --sarif is of one program.
"""
import os
import subprocess
import sys

import tbem
from tbem._suites import tbemc_path


def _check(paths, options):
    """The exit status."""
    worst = 0
    for path in paths:
        try:
            suite = tbem.Suite(path)
            with suite.modules() as folder:
                searched = os.pathsep.join(filter(None, [folder, os.environ.get("TBEM_PATH")]))
                status = subprocess.run([tbemc_path(), "spec", path, *options], env={**os.environ, "TBEM_PATH": searched},
                                        check=False).returncode
        except tbem.EnvironmentProblem as error:
            print(f"tbem: {path}: {error}", file=sys.stderr)
            status = 3
        except tbem.Error as error:
            print(f"tbem: {path}: {error}", file=sys.stderr)
            status = 2 if error.result is None else 1
        worst = max(worst, status)
    return worst


def main(words):
    if words in (["--help"], ["-h"], ["check", "--help"]):
        print(__doc__)
        return 0
    paths = [word for word in words[1:] if word.endswith(".tbem")]
    options = [word for word in words[1:] if not word.endswith(".tbem")]
    if words[:1] != ["check"] or not paths:
        print("usage: python -m tbem check SPECIFICATIONS.. [--sarif] [--strict] [--json] [--quiet]", file=sys.stderr)
        return 2
    if "--sarif" in options and len(paths) > 1:
        print("tbem: --sarif is of one program: ask once for each", file=sys.stderr)
        return 2
    return _check(paths, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
