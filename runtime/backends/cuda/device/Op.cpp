#include "runtime/backends/cuda/device/Op.h"

#include "runtime/backends/cuda/device/Images.h"
#include "runtime/core/ThreadLocal.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>

namespace tbem::cuda {

namespace {
alignas(runtime::kThreadLocalAlign) thread_local std::array<char, 4096> lastError{};  // long enough for what a driver's compiler
                                                                                      // has to say
}

tbem_status fail(tbem_status status, const std::string& message) {
  std::snprintf(lastError.data(), lastError.size(), "%s", message.c_str());
  return status;
}

tbem_status unsupported(const tbem_op_desc& op, const std::string& why) {
  return fail(TBEM_UNSUPPORTED,
              fmt::format("cuda: {}: {}", runtime::signature(static_cast<tbem_primitive>(op.primitive)).name, why));
}

const char* lastErrorText() { return lastError.data(); }

tbem_status plainLayouts(tbem_op_desc& op) { return imageLayouts(op, ImageOrder::RowMajor); }

}  // namespace tbem::cuda
