// Code for the card: PTX, which the driver compiles.
#pragma once

#include "runtime/backends/cuda/device/Device.h"

#include <string_view>

namespace tbem::cuda {

/// `ptx`: text with a zero behind it. A failure tells what the driver's compiler said. `name`: for the message.
tbem_status loadCode(const Device& device, const void* ptx, std::string_view name, ModuleHandle& module);

}  // namespace tbem::cuda
