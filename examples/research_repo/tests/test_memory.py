"""What a training step may take of the GPUs that we have, before anybody rents one."""
import tbem

GIB = 1 << 30


def test_a_step_fits():
    step = tbem.estimate("birdcalls.model:BirdNet", {"spectrogram": (128, 1, 64, 313)}, optimizer="adamw", device="rtx4090")
    assert step.peak <= 22 * GIB, f"{step.peak / GIB:.1f} GiB at {step.peak_place}\n{step.table}"
