// Softsign (Glorot & Bengio 2010): y = x / (1 + |x|), for f32.
#include <tbem/native.h>

#include <cmath>
#include <cstdint>

TBEM_NATIVE_LIBRARY

static void softsign_range(void* context, std::int64_t begin, std::int64_t end) {
  const auto* args = static_cast<const tbem_native_args*>(context);
  const auto* x = static_cast<const float*>(args->data[0]);
  auto* y = static_cast<float*>(args->data[1]);
  for (std::int64_t i = begin; i < end; ++i) y[i] = x[i] / (1 + std::fabs(x[i]));
}

extern "C" __attribute__((visibility("default"))) std::int32_t softsign(const tbem_native_args* args) {
  if (args->operands[0].dtype != TBEM_F32) return TBEM_UNSUPPORTED;
  std::int64_t elements = 1;
  for (std::uint32_t axis = 0; axis < args->operands[0].rank; ++axis) elements *= args->operands[0].dims[axis];
  args->parallel(args, softsign_range, const_cast<tbem_native_args*>(args), elements);
  return TBEM_OK;
}
