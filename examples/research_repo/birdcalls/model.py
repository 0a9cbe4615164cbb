"""Which of 40 species calls in a clip: a small residual network over log-mel spectrograms."""
import torch
import torch.nn as nn
import torch.nn.functional as F

import tbem


class ResBlock(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.stride = stride
        if stride != 1 or cin != cout:
            self.proj = nn.Sequential(nn.Conv2d(cin, cout, 1, bias=False), nn.BatchNorm2d(cout))
        else:
            self.proj = nn.Identity()

    def shortcut(self, x):
        if self.stride != 1:
            x = F.max_pool2d(x, 1, self.stride)
        return self.proj(x)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class BirdNet(nn.Module):
    def __init__(self, classes=40, width=32, depths=(2, 2, 2)):
        super().__init__()
        self.classes = classes
        self.stem = nn.Sequential(nn.Conv2d(1, width, 5, padding=2, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        stages, channels = [], width
        for i, depth in enumerate(depths):
            out = width * 2 ** i
            blocks = [ResBlock(channels, out, stride=1 if i == 0 else 2)]
            blocks += [ResBlock(out, out) for _ in range(depth - 1)]
            stages.append(nn.Sequential(*blocks))
            channels = out
        self.stages = nn.Sequential(*stages)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(channels, classes)

    @tbem.spec("spectrogram: tensor[b, 1, mel, frames] -> tensor[b, classes]")
    def forward(self, spectrogram):
        x = self.stem(spectrogram)
        x = self.stages(x)
        x = x.mean(dim=(2, 3))  # over pitch and time: clips of any length
        return self.head(self.dropout(x))


def main():
    model = BirdNet()
    print(sum(p.numel() for p in model.parameters()), "parameters")
    print(model(torch.randn(2, 1, 64, 313)).shape)


if __name__ == "__main__":
    main()
