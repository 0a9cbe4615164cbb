#!/usr/bin/env python3
"""terminal.py TBEMC SCRIPT: plays a script at `tbemc repl` under a pseudo-terminal and prints what a person sees.

A line of the script is what is typed, with \\t, \\r, \\x03 and other escapes of Python; `wait TEXT` waits until TEXT is on the
screen behind what was waited for last; `sleep SECONDS` waits; `pixels WIDTH HEIGHT` makes it a terminal that shows sixel
graphics, whose characters have so many pixels: pictures are then told at the end, a line each, by the rows of pixels that are
drawn in their first, middle and last column. The dialogue has 20 s for each answer."""
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
answers = {"\x1b[c": "\x1b[?62;22c"}  # a VT220 with colours


def visible(text):
    """Without pictures, colours and movements of the cursor."""
    return re.sub(r"\x1bP.*?\x1b\\|\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>78]|\x07", "", text, flags=re.DOTALL).replace("\r", "")


def picture(text):
    """The pixels that sixel graphics draw: rows by columns, by the manual of the VT340."""
    width, height, data = re.fullmatch(r'0;1q"1;1;(\d+);(\d+)#0;2;\d+;\d+;\d+(.*)', text, re.DOTALL).groups()
    rows = [[False] * int(width) for _ in range(int(height))]
    x = top = 0
    for count, character in re.findall(r"(?:!(\d+))?(.)", data):
        if character == "-":
            x, top = 0, top + 6
            continue
        for _ in range(int(count or 1)):
            for bit in range(6):
                if ord(character) - ord("?") >> bit & 1:
                    rows[top + bit][x] = True
            x += 1
    return rows


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
    part = data.decode("utf-8", "replace")
    seen += part
    for question, answer in answers.items():
        if question in part:
            os.write(terminal, answer.encode())
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
    elif line.startswith("pixels "):
        _, width, height = line.split()
        answers = {"\x1b[16t": f"\x1b[6;{height};{width}t", "\x1b[c": "\x1b[?62;4;22c"}
    elif line and not line.startswith("#"):
        os.write(terminal, line.encode("latin-1", "backslashreplace").decode("unicode_escape").encode())
end = time.monotonic() + 20
while time.monotonic() < end and read(0.2):
    pass
print(visible(seen))
for graphics in re.findall(r"\x1bP(.*?)\x1b\\", seen, re.DOTALL):
    rows = picture(graphics)
    columns = [[y for y, row in enumerate(rows) if row[x]] for x in (0, len(rows[0]) // 2, len(rows[0]) - 1)]
    print(f"picture {len(rows[0])} x {len(rows)}:", "; ".join(f"{min(ys)} to {max(ys)}" for ys in columns))
_, status = os.waitpid(child, os.WNOHANG)
if status is None or (os.WIFSIGNALED(status)):
    sys.exit("the dialogue was ended by a signal")
print("status", os.waitstatus_to_exitcode(status))
