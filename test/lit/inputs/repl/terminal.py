#!/usr/bin/env python3
"""terminal.py TBEMC SCRIPT: plays a script at `tbemc repl` under a pseudo-terminal and prints what a person sees.

A line of the script is what is typed, with \\t, \\r, \\x03 and other escapes of Python; `wait TEXT` waits until TEXT is on the
screen behind what was waited for last; `sleep SECONDS` waits. The dialogue has 20 s for each answer."""
import os
import pty
import re
import select
import sys
import time

tbemc, script = sys.argv[1:3]
child, terminal = pty.fork()
if child == 0:
    os.environ.update(TERM="xterm", COLUMNS="100", LINES="40", LC_ALL="C.UTF-8")
    os.execv(tbemc, [tbemc])
seen, looked = "", 0


def visible(text):
    """Without colours and movements of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x07", "", text).replace("\r", "")


def read(seconds):
    """What comes in this time; False at the end."""
    global seen
    ready, _, _ = select.select([terminal], [], [], seconds)
    if not ready:
        return True
    try:
        data = os.read(terminal, 65536)
    except OSError:
        return False
    seen += data.decode("utf-8", "replace")
    return bool(data)


def wait(text):
    global looked
    end = time.monotonic() + 20
    while True:
        place = visible(seen).find(text, looked)
        if place >= 0:
            looked = place + len(text)
            return
        if time.monotonic() > end or not read(0.1):
            print(visible(seen))
            sys.exit(f"`{text}` did not come")


for line in open(script, encoding="utf-8"):
    line = line.rstrip("\n")
    if line.startswith("wait "):
        wait(line[len("wait "):])
    elif line.startswith("sleep "):
        end = time.monotonic() + float(line[len("sleep "):])
        while time.monotonic() < end:
            read(0.05)
    elif line and not line.startswith("#"):
        os.write(terminal, line.encode("latin-1", "backslashreplace").decode("unicode_escape").encode())
end = time.monotonic() + 20
while time.monotonic() < end and read(0.2):
    pass
print(visible(seen))
_, status = os.waitpid(child, os.WNOHANG)
if status is None or (os.WIFSIGNALED(status)):
    sys.exit("the dialogue was ended by a signal")
print("status", os.waitstatus_to_exitcode(status))
