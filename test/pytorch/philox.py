"""Philox4x32-10, the counter-based generator of Salmon et al. 2011, from its definition."""


def philox(counter, key):
    """Salmon et al. 2011, ten rounds."""
    c, k, mask = list(counter), list(key), 0xFFFFFFFF
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & mask, (p0 >> 32) ^ c[3] ^ k[1], p0 & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def shuffled(seed, epoch, count):
    """The order of a training's examples (runtime/train/Order.h): Fisher & Yates' shuffle."""
    stream = int.from_bytes(b"shuffle", "big")
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        word = philox([i, 0, epoch, stream & 0xFFFFFFFF], [seed ^ (stream >> 32), 0])[0]
        j = (word * (i + 1)) >> 32
        order[i], order[j] = order[j], order[i]
    return order
