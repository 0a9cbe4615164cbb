"""A second caching allocator, from the rules alone, with naive lists: what the fast one is compared with.

model.py COUNT SEED writes COUNT random histories and the counters after each event, one word line each:
  T capacity total options      a history begins (options: - for none)
  A id bytes stream pool | F id | R id | D id | E      an event
  = requested peak allocated peak active peak reserved peak segments peak takings givings retries failures address
"""
import sys

import traces

MIB = 1 << 20
PAGE = 2 * MIB


class Options:
    def __init__(self, text):
        self.large, self.split, self.slack, self.expandable, self.threshold, self.fraction = 20 * MIB, None, None, False, 0.0, 1.0
        self.divisions = {}
        depth, parts = 0, [""]
        for c in text:
            depth += (c == "[") - (c == "]")
            if c == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += c
        for part in filter(None, parts):
            key, value = part.split(":", 1)
            if key == "large_segment_size_mb":
                self.large = int(value) * MIB
            elif key == "max_split_size_mb":
                self.split = int(value) * MIB
            elif key == "max_non_split_rounding_mb":
                self.slack = int(value) * MIB
            elif key == "expandable_segments":
                self.expandable = value == "True"
            elif key == "garbage_collection_threshold":
                self.threshold = float(value)
            elif key == "per_process_memory_fraction":
                self.fraction = float(value)
            elif value.startswith("["):
                named = [entry.split(":") for entry in value[1:-1].split(",")]
                keys = [int(k) for k, _ in named if k != ">"]
                for interval in range(16):
                    lower = 2 ** interval
                    if keys and lower < keys[0]:
                        self.divisions[interval] = int(named[0][1])
                    for k, d in named:
                        if k == ">" and (not keys or lower > keys[-1]) or k != ">" and int(k) == lower:
                            self.divisions[interval] = int(d)
            else:
                self.divisions = dict.fromkeys(range(16), int(value))
        if self.slack is None:
            self.slack = self.large

    def rounded(self, n):
        if n < 512:
            return 512
        interval = min(15, max(0, n.bit_length() - 21))
        d = self.divisions.get(interval, 0)
        if d <= 1 or n <= 512 * d:
            return -(-n // 512) * 512
        floor = 1 << (n.bit_length() - 1)
        if n == floor:
            return n
        step = floor // d
        return -(-n // step) * step if step else 2 * floor


class Block:
    def __init__(self, address, size, mapped=True):
        self.address, self.size, self.mapped = address, size, mapped
        self.user = None  # (id, bytes) while it is allocated or pending
        self.born = 0


class Segment:
    def __init__(self, blocks, stream, pool, small, page=0):
        self.blocks, self.stream, self.pool, self.small, self.page = blocks, stream, pool, small, page


class Model:
    def __init__(self, options, capacity, total):
        self.o, self.capacity, self.total = options, capacity, total
        self.allowed = int(options.fraction * total) if options.fraction < 1 else None
        self.segments, self.next, self.used = [], 1 << 40, 0  # used: bytes of the card in pages
        self.now = dict.fromkeys(["requested", "allocated", "active", "reserved", "segments"], 0)
        self.peak = dict(self.now)
        self.takings = self.givings = self.retries = self.failures = 0
        self.where, self.pending, self.searches = {}, [], {}

    def change(self, **by):
        for key, amount in by.items():
            self.now[key] += amount
            self.peak[key] = max(self.peak[key], self.now[key])

    def candidates(self, key):
        """Free mapped blocks of (stream, pool, small), as (size, address, block, segment)."""
        return sorted(((b.size, b.address, b, s) for s in self.segments if (s.stream, s.pool, s.small) == key
                       for b in s.blocks if b.user is None and b.mapped), key=lambda c: c[:2])

    def grown(self, block, segment):
        i = segment.blocks.index(block)
        after = segment.blocks[i + 1] if i + 1 < len(segment.blocks) else None
        return block.size + (after.size if after and not after.mapped else 0)

    def find(self, key, size):
        fits = [c for c in self.candidates(key) if c[0] >= size]
        if not fits:
            return None
        if self.o.expandable:
            while len(fits) > 1 and self.grown(fits[1][2], fits[1][3]) < self.grown(fits[0][2], fits[0][3]):
                fits.pop(0)
        have = fits[0][0]
        if self.o.split is not None:
            if size < self.o.split <= have:
                return None
            if size >= self.o.split and have >= size + self.o.slack:
                return None
        return fits[0][2], fits[0][3]

    def take(self, key, size, small):
        if size <= MIB:
            segment = 2 * MIB
        else:
            segment = self.o.large if size < 10 * MIB else -(-size // PAGE) * PAGE
        if self.allowed is not None and self.now["reserved"] + segment > self.allowed:
            return None
        if self.o.expandable:
            return self.grow(key, size, small)
        real = -(-segment // PAGE) * PAGE
        if self.used + real > self.capacity:
            return None
        self.used += real
        block = Block(self.next, segment)
        self.next += real
        made = Segment([block], *key)
        self.segments.append(made)
        self.takings += 1
        self.change(reserved=segment, segments=1)
        return block, made

    def grow(self, key, size, small):
        page = PAGE if small else self.o.large
        place = None
        for s in sorted((s for s in self.segments if s.page and (s.stream, s.pool, s.small) == key), key=lambda s: s.blocks[0].address):
            for i, b in enumerate(s.blocks):
                if b.mapped or place:
                    continue
                first = i - 1 if i > 0 and s.blocks[i - 1].user is None else i
                room = 0
                for c in s.blocks[first:]:
                    if c.user is not None:
                        break
                    room += c.size
                if room >= size:
                    place = s, s.blocks[first].address
        if place is None:
            length = -(-(self.total + self.total // 8) // page) * page
            s = Segment([Block(self.next, length, mapped=False)], *key, page=page)
            self.next += -(-length // PAGE) * PAGE
            self.segments.append(s)
            place = s, s.blocks[0].address
        s, address = place
        while True:
            block = next(b for b in s.blocks if b.address == address)
            if block.mapped and block.size >= size:
                return block, s
            hole = block if not block.mapped else s.blocks[s.blocks.index(block) + 1]
            have = block.size if block.mapped else 0
            count = -(-min(size - have, hole.size) // page)
            real = -(-page // PAGE) * PAGE * count
            if self.used + real > self.capacity:
                return None
            self.used += real
            self.takings += 1
            i = s.blocks.index(hole)
            new = Block(hole.address, count * page)
            new.born = self.searches.get(key[1:], 0)
            rest = [Block(hole.address + new.size, hole.size - new.size, mapped=False)] if hole.size > new.size else []
            s.blocks[i:i + 1] = [new] + rest
            self.join(s, new)
            self.change(reserved=count * page)

    def join(self, segment, block):
        """Neighbours that are free, and mapped or not alike, become one."""
        i = segment.blocks.index(block)
        for j in (i + 1, i - 1):
            if 0 <= j < len(segment.blocks):
                other = segment.blocks[j]
                if other.user is None and other.mapped == block.mapped:
                    block.address = min(block.address, other.address)
                    block.size += other.size
                    segment.blocks.remove(other)

    def give(self, segment):
        self.used -= -(-segment.blocks[0].size // PAGE) * PAGE
        self.givings += 1
        self.change(reserved=-segment.blocks[0].size, segments=-1)
        self.segments.remove(segment)

    def whole(self, segment):
        return len(segment.blocks) == 1 and segment.blocks[0].user is None and segment.blocks[0].mapped

    def collect(self):
        limit = int(self.o.threshold * self.allowed)
        if self.now["reserved"] <= limit:
            return
        target, given = self.now["reserved"] - limit, 0
        now = self.searches.get((0, False), 0)
        old = [s for s in self.segments if self.whole(s) and (s.pool, s.small) == (0, False)]
        total = sum(now - s.blocks[0].born for s in old)
        while given < target and old:
            mean, progress = total / len(old), False
            for s in list(old):
                age = now - s.blocks[0].born
                if not s.page and age >= mean:
                    progress = True
                    given += s.blocks[0].size
                    total -= age
                    old.remove(s)
                    self.give(s)
            if not progress:
                return

    def give_large(self, key, size):
        if self.o.split is None:
            return False
        wanted = max(size, self.o.split)
        free = self.candidates(key)
        fits = [c for c in free if c[0] >= wanted]
        if fits and not fits[0][3].page:
            self.give(fits[0][3])
            return True
        given = 0
        for c in reversed([c for c in free if c[0] < wanted]):
            if given >= wanted or c[0] < self.o.split:
                break
            if not c[3].page:
                given += c[0]
                self.give(c[3])
        return given >= wanted

    def give_unused(self):
        for ident in list(self.pending):
            self.finish(ident)
        for s in [s for s in self.segments if s.pool == 0]:
            if not s.page:
                if self.whole(s):
                    self.give(s)
                continue
            base, before = min(b.address for b in s.blocks), self.givings
            for b in [b for b in s.blocks if b.user is None and b.mapped]:
                low = base + -(-(b.address - base) // s.page) * s.page
                high = base + (b.address + b.size - base) // s.page * s.page
                if low >= high:
                    continue
                parts = [Block(b.address, low - b.address), Block(low, high - low, mapped=False), Block(high, b.address + b.size - high)]
                for part in parts:
                    part.born = self.searches.get((s.pool, s.small), 0)
                i = s.blocks.index(b)
                s.blocks[i:i + 1] = [p for p in parts if p.size]
                self.join(s, parts[1])
                self.used -= -(-s.page // PAGE) * PAGE * ((high - low) // s.page)
                self.givings += 1
                self.change(reserved=low - high)
            if len(s.blocks) == 1 and self.givings > before:  # a reservation that never had a page stays
                self.segments.remove(s)

    def allocate(self, ident, count, stream, pool):
        size = self.o.rounded(count)
        small = size <= MIB
        key = (stream, pool, small)
        if self.allowed is not None and self.o.threshold > 0:
            self.searches[key[1:]] = self.searches.get(key[1:], 0) + 1
        got = self.find(key, size)
        if got is None:
            if self.allowed is not None and self.o.threshold > 0:
                self.collect()
            got = self.take(key, size, small)
            if got is None and self.give_large(key, size):
                got = self.take(key, size, small)
            if got is None:
                self.give_unused()
                self.retries += 1
                got = self.take(key, size, small)
        if got is None:
            self.failures += 1
            return
        block, segment = got
        rest = block.size - size
        if rest >= 512 if small or self.o.expandable else (self.o.split is None or size < self.o.split) and rest > MIB:
            after = Block(block.address + size, rest)
            after.born = self.searches.get(key[1:], 0)
            segment.blocks.insert(segment.blocks.index(block) + 1, after)
            block.size = size
        block.user = ident, count
        self.where[ident] = block, segment
        self.change(allocated=block.size, active=block.size, requested=count)

    def request(self, ident):
        self.change(allocated=-self.where[ident][0].size)

    def finish(self, ident):
        block, segment = self.where.pop(ident)
        if ident in self.pending:
            self.pending.remove(ident)
        self.change(active=-block.size, requested=-block.user[1])
        block.user = None
        block.born = self.searches.get((segment.pool, segment.small), 0)
        self.join(segment, block)

    def line(self, address):
        gauges = [f"{self.now[k]} {self.peak[k]}" for k in ("requested", "allocated", "active", "reserved", "segments")]
        return "= " + " ".join(gauges) + f" {self.takings} {self.givings} {self.retries} {self.failures} {address}"


def run(options, capacity, total, events, out):
    out.write(f"T {capacity} {total} {options or '-'}\n")
    model = Model(Options(options), capacity, total)
    for event in events:
        kind, ident = event[0], event[1] if len(event) > 1 else None
        if kind == "A":
            model.allocate(*event[1:])
            address = model.where[ident][0].address if ident in model.where else 0
            out.write("A " + " ".join(map(str, event[1:])) + "\n" + model.line(address) + "\n")
        elif kind == "D":
            for waiting in list(model.pending):
                model.finish(waiting)
                out.write(f"D {waiting}\n{model.line(0)}\n")
        elif kind == "E":
            model.give_unused()
            out.write(f"E\n{model.line(0)}\n")
        elif ident in model.where and ident not in model.pending:
            model.request(ident)
            if kind == "R":
                model.pending.append(ident)
            else:
                model.finish(ident)
            out.write(f"{kind} {ident}\n{model.line(0)}\n")


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        run(*traces.trace(int(sys.argv[2]) + number), sys.stdout)
