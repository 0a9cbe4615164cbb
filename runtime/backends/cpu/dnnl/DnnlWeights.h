// Convolution weights between our four dimensions [out, in / groups, kh, kw] and the library's five [g, o, i, kh, kw].
#pragma once

#include "runtime/backends/cpu/dnnl/Dnnl.h"

namespace tbem::cpu::onednn {

/// With one group the same four dimensions; else five, whose first is the group. False where the operand's layout cannot be
/// said with a dimension for the group (blocks of output channels across groups).
bool describeWeight(const tbem_operand& operand, std::int64_t groups, dnnl_memory_desc_t& memory);

/// The way back. False where four dimensions cannot say it (padding inside each group).
bool readWeight(const dnnl_memory_desc_t& memory, std::int64_t groups, tbem_operand& operand);

}  // namespace tbem::cpu::onednn
