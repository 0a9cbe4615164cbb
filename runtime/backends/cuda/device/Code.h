// Code for the card: PTX, which the driver compiles, or a cubin.
#pragma once

#include "runtime/backends/cuda/device/Device.h"

#include <string_view>

namespace tbem::cuda {

/// `image`: PTX, a text with a zero behind it, or a cubin. A failure tells what the driver's compiler said. TBEM_UNSUPPORTED: a
/// cubin that this card or its driver cannot run. `name`: for the message.
tbem_status loadCode(const Device& device, const void* image, std::string_view name, ModuleHandle& module);

}  // namespace tbem::cuda
