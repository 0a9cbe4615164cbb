#!/usr/bin/env python3
"""What is told of a check that takes long, and when: first.py TBEMC."""
import sys

import client as lsp

# To build the graphs of these takes several times as long as a check is waited for.
TEXT = """import std.vision: resnet, densenet

design large of template {
  factor template: resnet(depth: 101), resnet(depth: 152), densenet(depth: 201), densenet(depth: 201, growth: 24),
                   densenet(depth: 201, growth: 40), densenet(depth: 201, growth: 48), densenet(depth: 161),
                   densenet(depth: 161, growth: 32), densenet(depth: 161, growth: 40), densenet(depth: 169)
  factor batch: 2, 4
  input  image: [batch, 3, 224, 224]
  task   train(loss: cross_entropy, optimizer: adam(lr: 0.001))
}
"""
URI = "file:///large.tbem"


def heard(client, version):
    """What is told in order, until the last of this version."""
    said, open_progress = [], False
    while True:
        message = client.read()
        if message["method"] == "$/progress":
            open_progress = message["params"]["value"]["kind"] == "begin"
            said.append(message["params"]["value"]["kind"])
        elif message["method"] == "textDocument/publishDiagnostics" and message["params"]["version"] == version:
            said.append([one["code"] for one in message["params"]["diagnostics"]])
            if not open_progress:
                return said


with lsp.Client(sys.argv[1]) as opened:
    opened.open(URI, TEXT.replace("batch: 2", "bach: 2"))
    print("misspelt:", heard(opened, 1))
    opened.change(URI, 2, [{"text": TEXT}])
    print("mended:", heard(opened, 2))
    opened.change(URI, 3, [{"text": TEXT.replace("3, 224, 224", "4, 225, 225").replace("adam(lr: 0.001)", "adam(lr: 0 - 1)")}])
    print("rows that break a condition:", heard(opened, 3))
    opened.change(URI, 4, [{"text": TEXT.replace("0.001", "0.002")}])
    print("and none:", heard(opened, 4))
