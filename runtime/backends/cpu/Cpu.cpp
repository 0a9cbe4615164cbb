// The backend table of `cpu`.
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/core/ThreadLocal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>

#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tbem::cpu {

namespace onednn {
std::string versionText();
std::string isaText();
bool hasBfloat16();
bool packsIntoPlan();
}  // namespace onednn

namespace {

alignas(runtime::kThreadLocalAlign) thread_local char lastError[512] = "";

Family familyOf(int primitive) {
  switch (static_cast<tbem_primitive>(primitive)) {
    case TBEM_PRIMITIVE_conv2d:
    case TBEM_PRIMITIVE_conv2d_input_gradient:
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
      return convFamily();
    case TBEM_PRIMITIVE_dense:
    case TBEM_PRIMITIVE_dense_input_gradient:
    case TBEM_PRIMITIVE_dense_weight_gradient:
    case TBEM_PRIMITIVE_matmul:
      return productFamily();
    case TBEM_PRIMITIVE_reduce_sum:
    case TBEM_PRIMITIVE_reduce_max:
    case TBEM_PRIMITIVE_reduce_max_gradient:
      return reduceFamily();
    case TBEM_PRIMITIVE_channel_moments:
    case TBEM_PRIMITIVE_channel_gradient_sums:
      return channelFamily();
    case TBEM_PRIMITIVE_row_gradient_sums:
      return rowSumFamily();
    case TBEM_PRIMITIVE_sum_squares:
      return squaresFamily();
    case TBEM_PRIMITIVE_max_pool2d:
    case TBEM_PRIMITIVE_max_pool2d_gradient:
    case TBEM_PRIMITIVE_avg_pool2d:
    case TBEM_PRIMITIVE_avg_pool2d_gradient:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient:
      return poolFamily();
    case TBEM_PRIMITIVE_softmax:
    case TBEM_PRIMITIVE_softmax_gradient:
    case TBEM_PRIMITIVE_log_softmax:
    case TBEM_PRIMITIVE_log_softmax_gradient:
    case TBEM_PRIMITIVE_cross_entropy:
    case TBEM_PRIMITIVE_cross_entropy_gradient:
      return softmaxFamily();
    case TBEM_PRIMITIVE_reorder:
      return reorderFamily();
    case TBEM_PRIMITIVE_concat:
      return concatFamily();
    case TBEM_PRIMITIVE_gather:
    case TBEM_PRIMITIVE_gather_gradient:
    case TBEM_PRIMITIVE_arg_max:
    case TBEM_PRIMITIVE_constant:
      return indexFamily();
    case TBEM_PRIMITIVE_split_rows:
    case TBEM_PRIMITIVE_move_rows:
      return rowsFamily();
    case TBEM_PRIMITIVE_permute:
    case TBEM_PRIMITIVE_pad:
    case TBEM_PRIMITIVE_slice:
    case TBEM_PRIMITIVE_attention:  // refused before
    case TBEM_PRIMITIVE_attention_gradient:
    case TBEM_PRIMITIVE_COUNT:
      break;
  }
  return moveFamily();
}

/// Whether it is computed by the operators that it stands for.
bool isTakenApart(int primitive) {
  return primitive == TBEM_PRIMITIVE_attention || primitive == TBEM_PRIMITIVE_attention_gradient;
}

bool isProduct(int primitive) {
  return primitive == TBEM_PRIMITIVE_matmul || primitive == TBEM_PRIMITIVE_dense ||
         primitive == TBEM_PRIMITIVE_dense_input_gradient || primitive == TBEM_PRIMITIVE_dense_weight_gradient;
}

/// Algorithms of a product: the default, thin (of dense layers alone), and the other one. The default is the library's where it
/// has kernels that pack into space from the plan, which it has for AVX-512 alone; elsewhere ours.
Family familyOfProduct(const tbem_op_desc& op) {
  if (op.algorithm == 1) return thinFamily();
  const bool ours = !onednn::packsIntoPlan() && op.operands[0].dtype == TBEM_F32;
  return (op.algorithm == 0) == ours ? packedFamily() : productFamily();
}

Family familyOf(const tbem_op_desc& op) { return isProduct(op.primitive) ? familyOfProduct(op) : familyOf(op.primitive); }

/// Whether one thread takes a product: fewer than 65 536 multiplications are done in ten microseconds at most. Others, which
/// sleep after a short while without work, take some forty to wake, and save three where they are awake (a layer 64 to 784 of one
/// row).
bool isSoonDone(const tbem_op_desc& op) {
  if (!isProduct(op.primitive)) return false;
  constexpr std::int64_t kMany = std::int64_t{1} << 16U;
  std::int64_t elements = 0;
  for (std::int32_t k = 0; k < op.inputs + op.outputs; ++k) {
    if (op.operands[k].present != 0) elements += runtime::elementCount(op.operands[k]);
  }
  if (elements >= 2 * kMany) return false;
  if (op.primitive != TBEM_PRIMITIVE_matmul) {
    const runtime::Dense d = runtime::dense(op);
    return d.rows * d.in * d.out < kMany;
  }
  const tbem_operand& y = op.operands[2];
  return runtime::elementCount(y) * runtime::matmul(op).k < kMany;
}

/// Asked once, before any team is taken: afterwards OpenMP knows what a team had last.
int defaultThreads() {
  static const int threads = omp_get_max_threads();
  return std::min(threads, mostThreads());
}

/// Primitives that take bf16; the others are given f32 by whoever asks.
bool computesBfloat16(int primitive) {
  const Family family = familyOf(primitive);
  return family.query == convFamily().query || family.query == productFamily().query || family.query == channelFamily().query ||
         family.query == poolFamily().query || primitive == TBEM_PRIMITIVE_reduce_sum;
}

/// What oneDNN cannot take: it counts in 32 bits, also sums of a dimension and what it is padded by, and divides by such counts;
/// its products of dimensions wrap in larger tensors. Empty: nothing is wrong.
std::string beyondLibrary(const tbem_op_desc& op) {
  constexpr std::int64_t kMostAlong = std::int64_t{1} << 30, kMostElements = std::int64_t{1} << 36;
  const Family family = familyOf(op.primitive);
  if (family.query != convFamily().query && family.query != productFamily().query) return "";
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    const tbem_operand& operand = op.operands[k];
    if (operand.present == 0) continue;
    std::int64_t elements = 1;
    for (int axis = 0; axis < operand.rank; ++axis) {
      const std::int64_t along = operand.dims[axis];
      if (along > kMostAlong) return fmt::format("a dimension of {} where oneDNN takes at most {}", along, kMostAlong);
      if (along > 0 && elements > kMostElements / along)
        return fmt::format("a tensor of more than {} elements, which oneDNN does not take", kMostElements);
      elements *= along;
    }
  }
  return "";
}

/// Shapes and element types, for query and create.
tbem_status check(const tbem_op_desc* op) {
  const std::string wrong = runtime::checkDescription(*op);
  if (!wrong.empty()) return fail(TBEM_INVALID, wrong);
  if (isTakenApart(op->primitive)) {
    return fail(TBEM_UNSUPPORTED, fmt::format("cpu: {} is computed by products and softmax",
                                              runtime::signature(static_cast<tbem_primitive>(op->primitive)).name));
  }
  if (op->threads > mostThreads()) {
    return fail(TBEM_UNSUPPORTED, fmt::format("cpu: {} threads are asked, {} are the most ({})", op->threads, mostThreads(),
                                              mostThreads() < kMostThreads ? "OMP_THREAD_LIMIT" : "a limit of this backend"));
  }
  const int type = op->operands[0].dtype;
  const bool known = type == TBEM_F32 || (type == TBEM_BF16 && computesBfloat16(op->primitive));
  if (known && type == TBEM_BF16 && !onednn::hasBfloat16()) {
    return fail(TBEM_UNSUPPORTED,
                fmt::format("cpu: bf16 needs AVX-512, this processor has {} (ref computes it anywhere)", onednn::isaText()));
  }
  if (!runtime::signature(static_cast<tbem_primitive>(op->primitive)).moves && !known) {
    return fail(TBEM_UNSUPPORTED,
                fmt::format("cpu: {} of {}; this backend computes in f32 ({})",
                            runtime::signature(static_cast<tbem_primitive>(op->primitive)).name, runtime::dtypeName(type),
                            type == TBEM_F16 ? "ref and cuda compute in f16" : "ref computes in f64"));
  }
  if (const std::string beyond = beyondLibrary(*op); !beyond.empty()) {
    return fail(TBEM_UNSUPPORTED, fmt::format("cpu: {} (estimate --on none and --on pytorch count from shapes alone)", beyond));
  }
  const bool convolution = op->primitive == TBEM_PRIMITIVE_conv2d || op->primitive == TBEM_PRIMITIVE_conv2d_input_gradient ||
                           op->primitive == TBEM_PRIMITIVE_conv2d_weight_gradient;
  if (op->algorithm != 0 && !convolution && !isProduct(op->primitive)) {
    return fail(TBEM_UNSUPPORTED,
                fmt::format("cpu: {} has one algorithm", runtime::signature(static_cast<tbem_primitive>(op->primitive)).name));
  }
  return TBEM_OK;
}

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

tbem_status probe(tbem_device_info* info) {
  *info = {};
  std::snprintf(info->name, sizeof info->name, "%s", processorName().c_str());
  std::snprintf(info->isa, sizeof info->isa, "%s", onednn::isaText().c_str());
  std::snprintf(info->library, sizeof info->library, "%s", onednn::versionText().c_str());
  info->threads = defaultThreads();
  info->memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return TBEM_OK;
}

template <class Body>
tbem_status guarded(Body body) {
  return runtime::guarded(fail, "cpu: no memory for an operator", body);
}

tbem_status query(tbem_op_desc* op, tbem_op_info* info) {
  return guarded([&] {
    *info = {};
    if (op->operands == nullptr) {  // every other primitive belongs to a family
      const bool known = op->primitive >= 0 && op->primitive < TBEM_PRIMITIVE_COUNT && !isTakenApart(op->primitive);
      return known ? TBEM_OK : TBEM_UNSUPPORTED;
    }
    const tbem_status status = check(op);
    return status != TBEM_OK ? status : familyOf(*op).query(*op, *info);
  });
}

tbem_status create(const tbem_op_desc* op, tbem_op** out) {
  return guarded([&] {
    if (const tbem_status status = check(op)) return status;
    if (!runtime::layoutsAreChosen(*op)) return fail(TBEM_INVALID, "cpu: create needs every layout chosen");
    return runtime::createBy(familyOf(*op), *op, out);
  });
}

tbem_status run(tbem_op* op, void* const* operands, void* work, const double* scalars) {
  return reinterpret_cast<Op*>(op)->run(operands, work, scalars);
}

void destroy(tbem_op* op) { delete reinterpret_cast<Op*>(op); }

/// An arena of megabytes lies on huge pages where the system gives them (a step then misses the translation buffer less: 8 % of a
/// resnet18 step at 32x32); where it does not, nothing is lost.
tbem_status allocate(std::uint64_t bytes, void** out) {
  constexpr std::uint64_t kPage = 4096, kHuge = std::uint64_t{2} << 20U;
  const bool large = bytes >= 2 * kHuge;
  const std::uint64_t alignment = large ? kHuge : kPage, rounded = (bytes + kPage - 1) / kPage * kPage;
  *out = nullptr;
  if (rounded >= bytes && posix_memalign(out, alignment, rounded == 0 ? kPage : rounded) != 0) *out = nullptr;
  if (*out != nullptr && large) (void)madvise(*out, rounded, MADV_HUGEPAGE);
  return *out != nullptr ? TBEM_OK : fail(TBEM_OUT_OF_MEMORY, fmt::format("cpu: {} bytes cannot be had", bytes));
}

void release(void* memory, std::uint64_t) { std::free(memory); }

tbem_status copy(void* to, const void* from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
  return TBEM_OK;
}

tbem_status synchronize() { return TBEM_OK; }

void parallel(std::int32_t most, void (*body)(void*, std::int64_t, std::int64_t), void* context, std::int64_t count) {
  if (count <= 0) return;
  const std::int64_t threads = std::clamp<std::int64_t>(most, 1, count);
  if (threads == 1) return body(context, 0, count);
  takeInTurn(static_cast<int>(threads), count, body, context);
}

const char* lastErrorText() { return lastError; }

constexpr tbem_backend kBackend = {TBEM_BACKEND_ABI,
                                   sizeof(tbem_backend),
                                   "cpu",
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

int mostThreads() { return std::min(kMostThreads, omp_get_thread_limit()); }

int threadsOf(const tbem_op_desc& op) {
  const int asked = op.threads > 0 ? op.threads : defaultThreads();
  return isSoonDone(op) ? 1 : asked;
}

Op::Op(const tbem_op_desc& from) : OwnDescription(from), threads(threadsOf(from)) {}

}  // namespace tbem::cpu

extern "C" const tbem_backend* tbem_backend_cpu(void) { return &tbem::cpu::kBackend; }
