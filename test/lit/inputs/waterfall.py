"""Reads estimates in PyTorch: the parts of each waterfall add up to its sums, those to the counters, and bounds lie around the point."""
import json
import sys

for line in sys.stdin:
    row = json.loads(line)
    memory, total, sums = row["memory"], 0, {}
    for part in memory["waterfall"]["parts"]:
        if part["sum"]:
            sums[part["part"]] = part["bytes"]
            assert part["bytes"] == total, f"{part['part']} is {part['bytes']}, its parts add up to {total}"
        else:
            total += part["bytes"] or 0
    assert sums == {"allocated": memory["allocated"], "reserved": memory["reserved"]}, sums
    assert total == memory["device_at_least"], "what is beside"
    gpu = row["gpu"] or {}
    known = [gpu.get(name) for name in ("context", "handles", "kernels")]
    assert memory["device"] == (None if None in known else total), "a peak of the device without a measurement"
    bounds = memory["bounds"]
    assert bounds["lower"]["bytes"] <= total and memory["live"] <= memory["allocated"] <= memory["reserved"]
    assert bounds["lower"]["bytes"] + bounds["lower"]["engines"] + bounds["lower"]["allocator"] == total
    if bounds["upper"]:
        assert bounds["upper"]["bytes"] >= total and not bounds["upper"]["proved"]
    print(f"{row['design']}: allocated {memory['allocated']}, reserved {memory['reserved']}, at least {total}, device {memory['device']}, "
          f"upper {bounds['upper'] and bounds['upper']['bytes']}")
