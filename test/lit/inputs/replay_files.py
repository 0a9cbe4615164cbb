"""Snapshots and histories for `tbemc replay`: replay_files.py WHAT SNAPSHOT OUT makes OUT from a recorded snapshot."""
import gzip
import json
import pickle
import sys

what, source, out = sys.argv[1:4]
with open(source, "rb") as file:
    snapshot = pickle.load(file)
trace = snapshot["device_traces"][0]


class Code:
    def __reduce__(self):
        return print, ("run",)


def history(events):
    actions = list(dict.fromkeys(e["action"] for e in events))
    return {"case": {"net": "squeezenet", "precision": "f32"}, "torch": "2.15.0+cu132", "settings": snapshot["allocator_settings"], "actions": actions,
            "phases": {"first": len(events) // 2, "second": len(events)},
            "events": [[actions.index(e["action"]), e.get("addr", 0), e["size"], e["stream"]] for e in events]}


def write(data):
    with open(out, "wb") as file:
        file.write(data)


if what.startswith("protocol"):
    write(pickle.dumps(snapshot, int(what[8:])))
elif what == "python":  # the pickler in Python takes other opcodes
    write(pickle._dumps(snapshot, 2))
elif what == "code":
    write(pickle.dumps({**snapshot, "device_traces": [[Code()]]}, 4))
elif what == "class":
    write(b"\x80\x04cos\nsystem\n.")
elif what == "extension":
    write(b"\x80\x02\x82\x01.")
elif what == "persistent":
    write(b"\x80\x02K\x01Q.")
elif what == "cut":
    write(pickle.dumps(snapshot, 2)[:2000])
elif what == "frame":
    write(b"\x80\x04\x95" + (1 << 62).to_bytes(8, "little") + b"}.")
elif what == "text":
    write(b"\x80\x04\x8d" + (1 << 62).to_bytes(8, "little") + b"}.")
elif what == "segments":
    write(pickle.dumps(snapshot["segments"], 4))
elif what == "none":
    write(pickle.dumps({**snapshot, "device_traces": [[]]}, 4))
elif what == "negative":
    write(pickle.dumps({**snapshot, "device_traces": [[{**trace[0], "size": -1}]]}, 4))
elif what == "middle":
    write(pickle.dumps({**snapshot, "device_traces": [trace[400:]]}, 4))
elif what == "wrong":  # an event says another size than the allocator's rules give
    changed = next(i for i, e in enumerate(trace) if i > 100 and e["action"] == "segment_alloc")
    write(pickle.dumps({**snapshot, "device_traces": [trace[:changed] + [{**trace[changed], "size": trace[changed]["size"] + (2 << 20)}] + trace[changed + 1:]]}, 4))
elif what == "json":
    write((json.dumps(history(trace)) + "\n").encode())
elif what == "gzip":
    write(gzip.compress((json.dumps(history(trace)) + "\n" + json.dumps({**history(trace), "case": "again"}) + "\n").encode()))
elif what == "badevent":
    write(json.dumps({"actions": ["alloc"], "events": [[0, 1, 512, 0], [1, 1, 512, 0]]}).encode())
