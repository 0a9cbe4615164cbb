"""The meters of framework.py, as those of runtime/measure: memory of the process, energy of packages, and of a card time and energy."""
import ctypes
import gc
import glob
import math
import os
import statistics
import time


def memory():
    """Bytes that are resident, and the most that were since the peak was reset."""
    fields = {}
    with open("/proc/self/status") as lines:
        for line in lines:
            name, _, rest = line.partition(":")
            fields[name] = rest.split()
    return 1024 * int(fields["VmRSS"][0]), 1024 * int(fields["VmHWM"][0])


def reset_peak():
    """Why the peak could not be reset, or ""."""
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except OSError as error:
        return f"the peak could not be reset ({error}): it counts set-up as well and is an upper bound"
    return ""


def give_back():
    """Hands memory that set-up has freed back to the kernel: where steps took it again, it would not show as theirs."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc alone
    if trim is not None:
        trim(0)


class EnergyCounter:
    """What counters of energy have in common. Subclasses say why there is none (`reason`), and how many `joules` it was since `start`."""
    LOOK = 60.0  # seconds between looks, far below a wrap

    def metrics(self, seconds, steps):
        if self.reason:
            return {"energy_reason": self.reason}
        if seconds < self.WINDOW or steps == 0:
            return {"energy_reason": f"the timed steps took {seconds:.3g} s, under the {self.WINDOW:g} s that the energy counters need"}
        return self.of_step(seconds, steps)

    def of_step(self, seconds, steps):
        return {"energy": self.joules() / steps}


class Energy(EnergyCounter):
    """RAPL counters of all processor packages; they tick in milliseconds, so windows under a second tell nothing."""
    WINDOW = 1.0

    def __init__(self):
        root = os.environ.get("TBEM_POWERCAP") or "/sys/class/powercap"
        self.reason, self.domains, self.total = "", [], 0
        paths = sorted(glob.glob(os.path.join(root, "intel-rapl:[0-9]")) + glob.glob(os.path.join(root, "intel-rapl:[0-9][0-9]")))
        if not paths:
            self.reason = f"no energy counters in {root}"
        for path in paths:
            try:
                reach = self._read(path, "max_energy_range_uj")
                self.domains.append([path, reach, self._read(path, "energy_uj")])
            except OSError as error:
                self.domains, self.reason = [], f"the energy counters cannot be read ({error})"
                return

    @staticmethod
    def _read(path, name):
        with open(os.path.join(path, name)) as file:
            return int(file.read())

    def rest(self):
        """Packages are never at rest while this waits."""

    def start(self):
        self.look()
        self.total = 0

    def look(self):
        for domain in self.domains:
            now = self._read(domain[0], "energy_uj")
            self.total += now - domain[2] if now >= domain[2] else now + domain[1] - domain[2]
            domain[2] = now

    def joules(self):
        return self.total * 1e-6


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


class CardEnergy(EnergyCounter):
    """Energy of a whole card, whoever uses it, by the counter that tbemc reads for its own rows (runtime/measure/CardMeter.h)."""
    WINDOW, REST = 5.0, 1.0  # seconds; an H200's counter moves every 100 ms

    def __init__(self, number, protocol):
        """`number`: of the card, as CUDA counts them in this process."""
        self.reason, self.device, self.first, self.last, self.resting = "", ctypes.c_void_p(), 0, 0, None
        if protocol["min_seconds"] < self.WINDOW:
            self.reason = "a card's energy is read where `metric energy` asks for it"
            return
        try:
            self._open(number)
        except OSError as error:
            self.reason = f"NVML cannot be opened: {error}"
        except AttributeError as error:
            self.reason = f"NVML lacks a function: {error}"

    def _open(self, number):
        driver, self.nvml = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libnvidia-ml.so.1")
        card, bus = ctypes.c_int(), ctypes.create_string_buffer(64)
        if driver.cuDeviceGet(ctypes.byref(card), number) != 0 or driver.cuDeviceGetPCIBusId(bus, len(bus), card) != 0:
            self.reason = "the driver does not say where the card is"
            return
        self.nvml.nvmlErrorString.restype = ctypes.c_char_p
        if self._succeeds("NVML does not start", self.nvml.nvmlInit_v2()):
            found = self.nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(self.device))
            self._succeeds(f"NVML does not know the card {bus.value.decode()}", found)
        self.look()

    def _succeeds(self, what, status):
        if status != 0 and not self.reason:
            self.reason = f"{what}: {self.nvml.nvmlErrorString(status).decode()}"
        return status == 0

    def rest(self):
        """Waits while nothing is asked of the card: what it takes then is in all its energy."""
        self.start()
        if self.reason:
            return
        begun = time.perf_counter()
        time.sleep(self.REST)
        self.look()
        self.resting = self.joules() / (time.perf_counter() - begun)

    def start(self):
        self.look()
        self.first = self.last

    def look(self):
        if self.reason:
            return
        now = ctypes.c_ulonglong()  # millijoules
        if self._succeeds("NVML has no energy of the card", self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(now))):
            self.last = now.value

    def joules(self):
        return (self.last - self.first) * 1e-3

    def of_step(self, seconds, steps):
        beyond_rest = (self.joules() - self.resting * seconds) / steps
        return super().of_step(seconds, steps) | {"idle_power": self.resting, "energy_dynamic": beyond_rest}
