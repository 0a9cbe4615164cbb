"""usage: on_terminal.py COMMAND...: runs it with a terminal as standard output and error, and prints what was shown and taken away
again, each text once and without numbers, then what is left on the screen."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

COLUMNS = 100
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
# What is shown must not depend on how fast this machine is.
environment = {**os.environ, "TERM": "xterm", "TBEM_PROGRESS": "at-once"}
environment.pop("COLUMNS", None)
process = subprocess.Popen(sys.argv[1:], stdin=slave, stdout=slave, stderr=slave, env=environment)
os.close(slave)
data = b""
while True:
    try:
        piece = os.read(master, 65536)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    data += piece
status = process.wait()

lines, shown = [""], []
text = re.sub("\x1b\\[[0-9;]*m", "", data.decode("utf-8", "replace")).replace("\r\n", "\n")
for part in re.split("(\r|\n|\x1b\\[K)", text):
    if part == "\n":
        lines.append("")
    elif part == "\r":
        bar = lines[-1]
        if bar.startswith("▕"):
            what = re.sub("[0-9]+", "#", bar.split("▏")[-1])
            if what not in shown:
                shown.append(what)
        lines[-1] = ""
    elif part != "\x1b[K":
        lines[-1] += part
print("shown:")
for what in shown:
    print(" ", what)
print("left:")
print("\n".join(lines))
assert not any("▕" in line for line in lines), "a bar was left on the screen"
sys.exit(status)
