"""Searches as newcomers type them, and what must be among the first three hits: TBEMC."""
import json
import subprocess
import sys

WANTED = """
cross entropy: cross_entropy
cross entropy loss: cross_entropy
loss function: mse
mean squared error: mse
absolute error: l1
negative log likelihood: nll
binary cross entropy: bce
linear layer: dense
fully connected: dense
matrix multiply: matmul
multiply: mul
average pooling: avg_pool2d
max pooling: max_pool2d
max pool: max_pool2d
global average pooling: global_avg_pool
MaxPooling2D: max_pool2d
batch norm: batch_norm
batch normalization: batch_norm
layer norm: layer_norm
group normalization: group_norm
convolution: conv2d
transposed convolution: conv_transpose2d
deconvolution: conv_transpose2d
depthwise convolutions: depthwise_separable
learning rate schedule: cosine
optimizer: sgd
weight decay: adamw
self attention: multi_head_attention
multi head attention: multi_head_attention
skip connection: shortcut
one hot: one_hot
embeddings: embedding
swish: silu
concatenate: concat
resize images: upsample2d
vision transformer: vit
"""


def hits(tbemc, words):
    shown = subprocess.run([tbemc, "doc", "--json", "--search", *words.split()], capture_output=True, text=True)
    return [json.loads(line)["name"].split(".")[-1] for line in shown.stdout.splitlines()]


table = [line.split(": ") for line in WANTED.strip().splitlines()]
for words, wanted in table:
    first = hits(sys.argv[1], words)[:3]
    if wanted not in first:
        sys.exit(f"{words}: {wanted} is not among {first}")
print(len(table), "searches, none without what was looked for")
