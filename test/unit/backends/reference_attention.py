"""Attention and its gradient for reference.py."""
import torch
import torch.nn.functional as F


def attention_problems(integer, real, gradient):
    """The two primitives as functions that draw a problem, by those that draw its numbers (reference.py)."""

    def problem():
        lead, l, m = [integer(1, 3) for _ in range(integer(0, 2))], integer(1, 9), integer(1, 9)
        d, e, causal = integer(1, 12), integer(1, 12), integer(0, 1)
        inside = integer(0, 1) if lead else 0

        def turned(tensor):
            """Of rows that keep their heads beside each other those of each head, and back."""
            return tensor.transpose(-2, -3) if inside else tensor

        query, key, value = (real(*lead[:-1], rows, lead[-1], width) if inside else real(*lead, rows, width)
                             for rows, width in ((l, d), (m, d), (m, e)))
        scores = turned(query) @ turned(key).transpose(-1, -2) / d ** 0.5
        if causal:
            scores = scores.masked_fill(torch.ones(l, m, dtype=torch.bool).triu(1), -torch.inf)
        y = turned(F.softmax(scores, -1) @ turned(value)).contiguous()
        return [causal, inside], [query, key, value], y, torch.logsumexp(scores, -1)

    def attention():
        attributes, inputs, y, log_sums = problem()
        return attributes, [], inputs, [y, log_sums]

    def attention_gradient():
        attributes, inputs, y, log_sums = problem()
        dy, gradients = gradient(y, inputs)
        return attributes, [], [dy, *inputs, y, log_sums], gradients

    return attention, attention_gradient
