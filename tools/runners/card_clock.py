"""How framework.py times steps on a card."""
import math
import statistics
import time


class CardClock:
    """Seconds of steps by a card's own clock, its cache written over in front of each, as tbemc times its own rows there
    (compiler/backends/CardSteps.h). Where the card has no memory for that, what a step leaves is there for the next."""
    # Steps; of a median; of the least seconds, what a window takes at least and the warm-up at most (runtime/measure/Protocol.cpp).
    WINDOW, AGREE, EACH, LONGEST = 5, 0.01, 0.1, 4.0
    SECONDS = 0.5  # at most; where energy is wanted the protocol has more

    def __init__(self, torch, device):
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        try:
            cache = torch.cuda.get_device_properties(device).L2_cache_size
            self.other = torch.empty(2 * cache, dtype=torch.uint8, device=device)
        except torch.cuda.OutOfMemoryError:
            self.other = None

    def seconds(self, step, framework):
        if self.other is not None:
            self.other.zero_()
        self.begin.record()
        result = step()
        self.end.record()
        framework.finish(result)
        return self.begin.elapsed_time(self.end) * 1e-3

    def settle(self, step, framework, least):
        """Takes windows of steps until the medians of two agree, or for long enough."""
        begun, before = time.perf_counter(), None
        while True:
            now = statistics.median(self.window(step, framework, self.WINDOW, self.EACH * least))
            if before is not None and (abs(now - before) <= self.AGREE * before or time.perf_counter() - begun > self.LONGEST * least):
                return
            before = now

    def window(self, step, framework, steps, seconds, most=math.inf):
        begun, samples = time.perf_counter(), []
        while len(samples) < steps or (len(samples) < most and time.perf_counter() - begun < seconds):
            samples.append(self.seconds(step, framework))
        return samples

    def samples(self, step, framework, protocol):
        least = min(protocol["min_seconds"], self.SECONDS)
        self.settle(step, framework, least)
        return self.window(step, framework, protocol["steps"], least, min(protocol["max_steps"], 10_000))
