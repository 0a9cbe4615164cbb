// Work that is recorded as a graph of CUDA's, to be done as often as is wanted. Parts of it may be conditional nodes: whether
// they are done is decided on the card, and nobody waits for the answer (CUDA Programming Guide, "Conditional Graph Nodes").
#pragma once

#include "runtime/backends/cuda/device/Device.h"

namespace tbem::cuda {

/// From here on what the device is asked is kept, not done. One recording at a time.
tbem_status beginRecording(const Device& device);
/// What follows, up to endCondition, will be done where the i64 at `count`, on the card, is above 0 when the recording gets
/// there. TBEM_UNSUPPORTED: the driver is older than CUDA 12.3.
tbem_status beginCondition(const Device& device, const void* count);
tbem_status endCondition(const Device& device);
/// Ends it, also after a failure, and prepares it. TBEM_UNSUPPORTED: the driver does not take its conditions.
tbem_status endRecording(const Device& device, GraphExecHandle& recording);

}  // namespace tbem::cuda
