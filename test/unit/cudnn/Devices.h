// Devices that tests describe to cuDNN.
#pragma once

#include "runtime/cudnn/Properties.h"

namespace tbem::cudnn {

/// What cards of compute capability 9.0 with 132 multiprocessors have in common.
inline DeviceProperties hopper() {
  DeviceProperties p;
  p.capability = 900;
  p.multiprocessors = 132;
  p.clockKHz = 1980000;
  p.sharedPerBlock = 49152;
  p.sharedPerBlockMost = 232448;
  p.sharedReserved = 1024;
  p.registersPerBlock = p.registersPerMultiprocessor = 65536;
  p.threadsPerBlock = 1024;
  p.threadsPerMultiprocessor = 2048;
  p.blocksPerMultiprocessor = 32;
  p.warp = 32;
  p.block = {1024, 1024, 64};
  p.grid = {2147483647, 65535, 65535};
  p.driver = 13000;
  return p;
}

}  // namespace tbem::cudnn
