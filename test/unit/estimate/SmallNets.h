// Small networks of the shapes that people train, as graphs by hand.
#pragma once

#include "test/unit/estimate/Build.h"

namespace tbem::test {

/// VGG for small images with batch normalisation: `convs[s]` convolutions of width * {1, 2, 4, 8, 8}[s] channels a stage.
inline Net smallVgg(const std::vector<int>& convs, std::int64_t batch, std::int64_t width, std::int64_t size, bool trains,
                    tbem_dtype type = TBEM_F64) {
  Net net(type);
  TensorId x = net.input("image", {batch, 3, size, size});
  const std::int64_t factor[] = {1, 2, 4, 8, 8};
  for (std::size_t s = 0; s < convs.size(); ++s) {
    for (int i = 0; i < convs[s]; ++i) x = net.relu(net.norm(net.conv(x, width * factor[s], 3, 1, 1)));
    x = net.maxPool(x, 2);
  }
  x = net.dense(net.flatten(x), 10);
  if (trains) {
    net.train(x);
  } else {
    net.output(x);
  }
  return net;
}

/// Basic residual blocks (He et al. 2015): the first of a stage after the first has stride 2 and a 1x1 shortcut.
inline Net smallResnet(const std::vector<int>& blocks, std::int64_t batch, std::int64_t width, std::int64_t size, bool trains,
                       tbem_dtype type = TBEM_F64) {
  Net net(type);
  TensorId x = net.relu(net.norm(net.conv(net.input("image", {batch, 3, size, size}), width, 3, 1, 1)));
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    for (int i = 0; i < blocks[s]; ++i) {
      const std::int64_t out = width << s;
      const std::int64_t stride = i == 0 && s > 0 ? 2 : 1;
      const TensorId y = net.norm(net.conv(net.relu(net.norm(net.conv(x, out, 3, stride, 1))), out, 3, 1, 1));
      const TensorId shortcut = stride == 2 ? net.norm(net.conv(x, out, 1, stride, 0)) : x;
      x = net.relu(net.add(y, shortcut));
    }
  }
  x = net.dense(net.flatten(net.maxPool(x, 2)), 10);
  if (trains) {
    net.train(x);
  } else {
    net.output(x);
  }
  return net;
}

}  // namespace tbem::test
