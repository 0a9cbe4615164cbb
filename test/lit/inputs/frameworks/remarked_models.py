"""Models that train otherwise than an export shows."""
import torch
from torch import nn


class Attends(nn.Module):
    """A rate that the model has when it trains alone, one that shows, and a table that is detached, before which no weight lies."""

    def __init__(self, rate=0.25):
        super().__init__()
        self.dropout_rate, self.values, self.last = rate, nn.Linear(4, 4), nn.Dropout(0.5)
        self.register_buffer("table", torch.arange(4.0))

    def forward(self, x):
        y = self.values(x)
        y = nn.functional.scaled_dot_product_attention(y, y, y, dropout_p=self.dropout_rate if self.training else 0.0)
        return self.last(y) * self.table.detach()


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(Attends(), Attends(), Attends(0.0))

    def forward(self, x):
        return self.layers(x)
