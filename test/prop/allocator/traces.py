"""Random histories of a caching allocator: options, a card's size, and events, with sizes around every boundary of the rules.

An event is a tuple: ("A", id, bytes, stream, pool), ("F", id), ("R", id, stream) freed while another stream uses it, ("D",) the other
streams are done with everything, ("E",) empty the cache. Ids that were never allocated (out of memory) are to be passed over.
"""
import random

MIB = 1 << 20
EDGES = [1, 511, 512, 513, 1024, MIB // 2, MIB - 512, MIB - 1, MIB, MIB + 1, 2 * MIB - 512, 2 * MIB, 3 * MIB, 5 * MIB, 10 * MIB - 512, 10 * MIB - 1, 10 * MIB,
         10 * MIB + 1, 12 * MIB, 19 * MIB, 20 * MIB - 1, 20 * MIB, 20 * MIB + 512, 21 * MIB, 32 * MIB - 1, 32 * MIB, 33 * MIB, 40 * MIB, 64 * MIB + 7, 100 * MIB]


def options(rng):
    parts = []
    large = 20
    if rng.random() < 0.15:
        large = rng.choice([12, 16, 32, 40])
        parts.append(f"large_segment_size_mb:{large}")
    if rng.random() < 0.35:
        parts.append(f"max_split_size_mb:{rng.choice([large, large + 1, large + 12, 64])}")
        if rng.random() < 0.3:
            parts.append(f"max_non_split_rounding_mb:{rng.choice([large, large + 4, 64])}")
    if rng.random() < 0.3:
        one = rng.choice([1, 2, 4, 8, 16])
        many = "[" + ",".join(f"{2 ** i}:{rng.choice([0, 1, 2, 4, 8])}" for i in sorted(rng.sample(range(8), rng.randint(1, 3)))) + f",>:{rng.choice([0, 1, 2, 4])}]"
        parts.append(f"roundup_power2_divisions:{one if rng.random() < 0.5 else many}")
    if rng.random() < 0.3:
        parts.append("expandable_segments:True")
    if rng.random() < 0.35:
        parts.append(f"per_process_memory_fraction:{rng.choice([0.25, 0.5, 0.75, 0.9])}")
        if rng.random() < 0.6:
            parts.append(f"garbage_collection_threshold:{rng.choice([0.1, 0.3, 0.6, 0.8])}")
    rng.shuffle(parts)
    return ",".join(parts)


def size(rng, favourites):
    kind = rng.random()
    if kind < 0.4:
        return rng.choice(favourites)
    if kind < 0.65:
        return max(1, rng.choice(EDGES) + rng.choice([-512, -1, 0, 0, 1, 512]))
    if kind < 0.85:
        return rng.randint(1, 3 * MIB)
    return int(2 ** rng.uniform(9, 26.5))


def trace(seed, events=60, pools=True):
    """-> (options, bytes the card can hand out, bytes of the card, events)"""
    rng = random.Random(seed)
    total = rng.choice([128, 200, 256, 512, 4096]) * MIB
    capacity = total - rng.choice([0, 0, 2, 16, 30]) * MIB
    streams = rng.choice([[0], [0], [0, 1], [0, 1, 2]])
    use = [0, 0, 0, 1, 2] if pools and rng.random() < 0.15 else [0]
    favourites = [size(rng, [MIB]) for _ in range(rng.randint(2, 8))]
    alive, made, ident = [], [], 0
    want = rng.choice([3, 6, 12, 25])  # how many stay alive
    for _ in range(rng.randint(events // 2, events * 3 // 2)):
        kind = rng.random()
        if kind < 0.02:
            made.append(("E",))
        elif kind < 0.06:
            made.append(("D",))
        elif alive and rng.random() < len(alive) / (2 * want):
            which = alive.pop(rng.choice([0, -1, rng.randrange(len(alive))]))
            if len(streams) > 1 and rng.random() < 0.25:
                made.append(("R", which[0], rng.choice([s for s in streams if s != which[1]])))
            else:
                made.append(("F", which[0]))
        else:
            stream = rng.choice(streams)
            made.append(("A", ident, size(rng, favourites), stream, rng.choice(use)))
            alive.append((ident, stream))
            ident += 1
    return options(rng), capacity, total, made
