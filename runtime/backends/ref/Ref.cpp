// The backend table of `ref`: what all others are compared with. Plain row-major layouts, one thread; f32, f64, and bf16 in f32.
#include "runtime/backends/ref/Kernels.h"
#include "runtime/core/NarrowFloat.h"
#include "runtime/core/ThreadLocal.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <unistd.h>

namespace tbem::ref {
namespace {

alignas(runtime::kThreadLocalAlign) thread_local char lastError[512] = "";

template <class T>
Kernel arithmetic(int primitive) {
  switch (static_cast<tbem_primitive>(primitive)) {
    case TBEM_PRIMITIVE_conv2d:
      return conv2d<T>;
    case TBEM_PRIMITIVE_conv2d_input_gradient:
      return conv2dInputGradient<T>;
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
      return conv2dWeightGradient<T>;
    case TBEM_PRIMITIVE_dense:
      return dense<T>;
    case TBEM_PRIMITIVE_dense_input_gradient:
      return denseInputGradient<T>;
    case TBEM_PRIMITIVE_dense_weight_gradient:
      return denseWeightGradient<T>;
    case TBEM_PRIMITIVE_matmul:
      return matmul<T>;
    case TBEM_PRIMITIVE_reduce_sum:
      return reduceSum<T>;
    case TBEM_PRIMITIVE_reduce_max:
      return reduceMax<T>;
    case TBEM_PRIMITIVE_reduce_max_gradient:
      return reduceMaxGradient<T>;
    case TBEM_PRIMITIVE_sum_squares:
      return sumSquares<T>;
    case TBEM_PRIMITIVE_channel_moments:
      return channelMoments<T>;
    case TBEM_PRIMITIVE_channel_gradient_sums:
      return channelGradientSums<T>;
    case TBEM_PRIMITIVE_row_gradient_sums:
      return rowGradientSums<T>;
    case TBEM_PRIMITIVE_max_pool2d:
      return maxPool<T>;
    case TBEM_PRIMITIVE_max_pool2d_gradient:
      return maxPoolGradient<T>;
    case TBEM_PRIMITIVE_avg_pool2d:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d:
      return avgPool<T>;
    case TBEM_PRIMITIVE_avg_pool2d_gradient:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient:
      return avgPoolGradient<T>;
    case TBEM_PRIMITIVE_softmax:
    case TBEM_PRIMITIVE_log_softmax:
      return softmax<T>;
    case TBEM_PRIMITIVE_softmax_gradient:
    case TBEM_PRIMITIVE_log_softmax_gradient:
      return softmaxGradient<T>;
    case TBEM_PRIMITIVE_attention:
      return attention<T>;
    case TBEM_PRIMITIVE_attention_gradient:
      return attentionGradient<T>;
    case TBEM_PRIMITIVE_cross_entropy:
      return crossEntropy<T>;
    case TBEM_PRIMITIVE_cross_entropy_gradient:
      return crossEntropyGradient<T>;
    case TBEM_PRIMITIVE_gather_gradient:
      return gatherGradient<T>;
    case TBEM_PRIMITIVE_arg_max:
      return argMax<T>;
    case TBEM_PRIMITIVE_constant:
      return constant<T>;
    case TBEM_PRIMITIVE_permute:
    case TBEM_PRIMITIVE_pad:
    case TBEM_PRIMITIVE_slice:
    case TBEM_PRIMITIVE_concat:
    case TBEM_PRIMITIVE_gather:
    case TBEM_PRIMITIVE_reorder:
    case TBEM_PRIMITIVE_split_rows:
    case TBEM_PRIMITIVE_move_rows:
    case TBEM_PRIMITIVE_COUNT:
      break;
  }
  return nullptr;
}

template <class T>
Kernel movementOf(int primitive) {
  return primitive == TBEM_PRIMITIVE_concat ? concat<T> : primitive == TBEM_PRIMITIVE_gather ? gather<T> : move<T>;
}

Kernel movement(int primitive, std::uint64_t bytes) {
  switch (bytes) {
    case 1:
      return movementOf<std::uint8_t>(primitive);
    case 2:
      return movementOf<std::uint16_t>(primitive);
    case 4:
      return movementOf<std::uint32_t>(primitive);
    default:
      return movementOf<std::uint64_t>(primitive);
  }
}

bool converts(int dtype) { return dtype == TBEM_F64 || dtype == TBEM_F32 || dtype == TBEM_I64 || dtype == TBEM_I32; }

/// The kernel of a checked description, or null where there is none for its element type.
Kernel kernelOf(const tbem_op_desc& op) {
  const int dtype = op.operands[op.primitive == TBEM_PRIMITIVE_cross_entropy_gradient ? 1 : 0].dtype;
  switch (op.primitive) {
    case TBEM_PRIMITIVE_permute:
    case TBEM_PRIMITIVE_pad:
    case TBEM_PRIMITIVE_slice:
    case TBEM_PRIMITIVE_concat:
    case TBEM_PRIMITIVE_gather:
      return movement(op.primitive, runtime::elementBytes(dtype));
    case TBEM_PRIMITIVE_split_rows:
      return splitRows;
    case TBEM_PRIMITIVE_move_rows:
      return moveRows;
    case TBEM_PRIMITIVE_reorder: {
      const int to = op.operands[1].dtype;
      const bool rounds = (runtime::isNarrow(dtype) && to == TBEM_F32) || (dtype == TBEM_F32 && runtime::isNarrow(to));
      return dtype == to || rounds || (converts(dtype) && converts(to)) ? reorder : nullptr;
    }
    default:
      if (hasNarrow(op)) return arithmetic<float>(op.primitive) != nullptr ? runWidened : nullptr;
      return dtype == TBEM_F64 ? arithmetic<double>(op.primitive) : dtype == TBEM_F32 ? arithmetic<float>(op.primitive) : nullptr;
  }
}

/// The check that query and create share: shapes, element types, layouts.
tbem_status check(const tbem_op_desc* op, bool anyAllowed) {
  const std::string wrong = runtime::checkDescription(*op);
  if (!wrong.empty()) return fail(TBEM_INVALID, wrong);
  const runtime::Signature& s = runtime::signature(static_cast<tbem_primitive>(op->primitive));
  if (op->algorithm != 0) return fail(TBEM_UNSUPPORTED, fmt::format("ref: {} has one algorithm", s.name));
  if (kernelOf(*op) == nullptr) {
    return fail(TBEM_UNSUPPORTED, fmt::format("ref: {} of {} is not there", s.name, runtime::dtypeName(op->operands[0].dtype)));
  }
  for (int k = 0; k < op->inputs + op->outputs; ++k) {
    const tbem_operand& operand = op->operands[k];
    if (!operand.present || (anyAllowed && operand.layout.any) || runtime::isPlain(operand)) continue;
    return fail(TBEM_UNSUPPORTED, fmt::format("ref: {} takes plain row-major layouts only, operand {} is not", s.name, k));
  }
  return TBEM_OK;
}

tbem_status probe(tbem_device_info* info) {
  *info = {};
  std::snprintf(info->name, sizeof info->name, "nested loops");
  std::snprintf(info->isa, sizeof info->isa, "portable");
  std::snprintf(info->library, sizeof info->library, "none");
  info->threads = 1;
  info->memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return TBEM_OK;
}

/// Whether there is a kernel for the primitive in f64.
bool has(int primitive) {
  if (primitive < 0 || primitive >= TBEM_PRIMITIVE_COUNT) return false;
  return runtime::signature(static_cast<tbem_primitive>(primitive)).moves || arithmetic<double>(primitive) != nullptr;
}

tbem_status query(tbem_op_desc* op, tbem_op_info* info) {
  if (op->operands == nullptr) return has(op->primitive) ? TBEM_OK : TBEM_UNSUPPORTED;
  if (const tbem_status status = check(op, true)) return status;
  for (int k = 0; k < op->inputs + op->outputs; ++k) {
    tbem_operand& operand = op->operands[k];
    if (operand.present && operand.layout.any) runtime::setPlain(operand);
  }
  *info = {};
  info->workspace =
      workspace(*op) + (runtime::signature(static_cast<tbem_primitive>(op->primitive)).moves ? 0 : widenedBytes(*op));
  std::snprintf(info->implementation, sizeof info->implementation, "loops");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc* op, tbem_op** out) {
  if (const tbem_status status = check(op, false)) return status;
  auto* made = new (std::nothrow) Op;
  if (made == nullptr) return fail(TBEM_OUT_OF_MEMORY, "ref: no memory for an operator");
  made->desc = *op;
  made->operands.assign(op->operands, op->operands + op->inputs + op->outputs);
  made->attributes.assign(op->attributes, op->attributes + op->attribute_count);
  made->desc.operands = made->operands.data();
  made->desc.attributes = made->attributes.data();
  made->kernel = kernelOf(made->desc);
  made->wideKernel = arithmetic<float>(made->desc.primitive);
  *out = reinterpret_cast<tbem_op*>(made);
  return TBEM_OK;
}

tbem_status run(tbem_op* op, void* const* operands, void* work, const double* scalars) {
  const auto* made = reinterpret_cast<const Op*>(op);
  return made->kernel(*made, operands, work, scalars);
}

void destroy(tbem_op* op) { delete reinterpret_cast<Op*>(op); }

tbem_status allocate(std::uint64_t bytes, void** out) {
  const std::uint64_t alignment = 4096, rounded = (bytes + alignment - 1) / alignment * alignment;
  *out = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  return *out != nullptr ? TBEM_OK : fail(TBEM_OUT_OF_MEMORY, fmt::format("ref: {} bytes cannot be had", bytes));
}

void release(void* memory, std::uint64_t) { std::free(memory); }

tbem_status copy(void* to, const void* from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
  return TBEM_OK;
}

tbem_status synchronize() { return TBEM_OK; }

void parallel(std::int32_t, void (*body)(void*, std::int64_t, std::int64_t), void* context, std::int64_t count) {
  if (count > 0) body(context, 0, count);
}

const char* lastErrorText() { return lastError; }

constexpr tbem_backend kBackend = {TBEM_BACKEND_ABI,
                                   sizeof(tbem_backend),
                                   "ref",
                                   probe,
                                   query,
                                   create,
                                   run,
                                   destroy,
                                   allocate,
                                   release,
                                   copy,
                                   copy,
                                   synchronize,
                                   parallel,
                                   lastErrorText,
                                   nullptr};

}  // namespace

tbem_status fail(tbem_status status, const std::string& message) {
  std::snprintf(lastError, sizeof lastError, "%s", message.c_str());
  return status;
}

std::uint64_t workspace(const tbem_op_desc& op) {
  switch (op.primitive) {
    case TBEM_PRIMITIVE_conv2d: {
      const runtime::Conv2d c = runtime::conv2d(op);
      return static_cast<std::uint64_t>(c.oh * c.ow) * sizeof(double);
    }
    case TBEM_PRIMITIVE_conv2d_input_gradient: {
      const runtime::Conv2d c = runtime::conv2d(op);
      return static_cast<std::uint64_t>(c.h * c.w) * sizeof(double);
    }
    case TBEM_PRIMITIVE_max_pool2d_gradient:
    case TBEM_PRIMITIVE_avg_pool2d_gradient:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient: {
      const runtime::Pool2d p = runtime::pool2d(op);
      return static_cast<std::uint64_t>(p.n * p.c * p.h * p.w) * sizeof(double);
    }
    case TBEM_PRIMITIVE_row_gradient_sums:  // two sums a feature
      return static_cast<std::uint64_t>(2 * op.operands[1].dims[op.operands[1].rank - 1]) * sizeof(double);
    case TBEM_PRIMITIVE_attention:  // a row of weights
      return static_cast<std::uint64_t>(runtime::attention(op).m) * sizeof(double);
    case TBEM_PRIMITIVE_attention_gradient: {
      const runtime::Attention a = runtime::attention(op);
      return static_cast<std::uint64_t>(a.m * (a.d + a.e + 1)) * sizeof(double);
    }
    default:
      return 0;
  }
}

}  // namespace tbem::ref

extern "C" const tbem_backend* tbem_backend_ref(void) { return &tbem::ref::kBackend; }
