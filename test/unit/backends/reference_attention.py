"""Attention and its gradient for reference.py."""
import torch
import torch.nn.functional as F


def attention_problems(integer, real, gradient):
    """The two primitives as functions that draw a problem, by those that draw its numbers (reference.py)."""

    def problem():
        lead, l, m = [integer(1, 3) for _ in range(integer(0, 2))], integer(1, 9), integer(1, 9)
        d, e, causal = integer(1, 12), integer(1, 12), integer(0, 1)
        query, key, value = real(*lead, l, d), real(*lead, m, d), real(*lead, m, e)
        scores = query @ key.transpose(-1, -2) / d ** 0.5
        if causal:
            scores = scores.masked_fill(torch.ones(l, m, dtype=torch.bool).triu(1), -torch.inf)
        return [causal], [query, key, value], F.softmax(scores, -1) @ value, torch.logsumexp(scores, -1)

    def attention():
        attributes, inputs, y, log_sums = problem()
        return attributes, [], inputs, [y, log_sums]

    def attention_gradient():
        attributes, inputs, y, log_sums = problem()
        dy, gradients = gradient(y, inputs)
        return attributes, [], [dy, *inputs, y, log_sums], gradients

    return attention, attention_gradient
