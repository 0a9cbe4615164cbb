#!/usr/bin/env python3
"""Kills `tbemc measure` with SIGKILL at random moments, resumes it, and at last lets it end.

Checks after each kill that rows once finished are still there, unchanged; at the end that every row is there exactly once, that
the last run reused what was finished, and that no worker outlived its parent.
"""
import argparse
import json
import random
import signal
import sqlite3
import subprocess
import sys
import time


def finished(store):
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=10) as db:
            return {(row[0], row[1]): row[2] for row in
                    db.execute("select identity, repeat, finished from results where status = 'ok'")}
    except sqlite3.OperationalError:
        return {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tbemc")
    parser.add_argument("program")
    parser.add_argument("store")
    parser.add_argument("--kills", type=int, default=20)
    arguments = parser.parse_args()
    command = [arguments.tbemc, "measure", arguments.program, "--store", arguments.store, "--json", "--quiet"]
    dice = random.Random(7)
    kept, killed = {}, 0
    while killed < arguments.kills:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(dice.uniform(0.02, 1.6))
        if process.poll() is not None:
            # It came to its end before the kill: what is finished stays, and further kills hit the check of a complete store.
            process.wait()
        process.send_signal(signal.SIGKILL)
        process.wait()
        killed += 1
        now = finished(arguments.store)
        for key, value in kept.items():
            if now.get(key) != value:
                sys.exit(f"row {key} was lost or run again after kill {killed}")
        kept = now
    time.sleep(0.3)
    last = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [json.loads(line) for line in last.splitlines()]
    rows = [row for row in rows if row["kind"] == "measure"]
    keys = [(row["identity"], row["repeat"]) for row in rows]
    again = [row for row in rows if not row["reused"] and (row["identity"], row["repeat"]) in kept]
    if again or len(set(keys)) != len(keys) or any(row["status"] != "ok" for row in rows):
        sys.exit(f"{len(again)} rows were run again, {len(keys) - len(set(keys))} are there twice")
    print(f"killed {killed} times, {len(kept)} rows were kept from before")
    print(f"{len(rows)} rows, each once")


if __name__ == "__main__":
    main()
