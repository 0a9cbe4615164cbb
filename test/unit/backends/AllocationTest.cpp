// What a run of cpu allocates: our own loops nothing; the library blocks under 4 KiB, which it frees before it returns.
#include "test/problems/Problem.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#if !defined(__SANITIZE_ADDRESS__) && defined(__GLIBC__)
namespace {
std::atomic<bool> counting{false};
std::atomic<long> taken{0}, given{0};
std::atomic<std::size_t> largest{0};

void count(std::size_t bytes) {
  if (!counting) return;
  ++taken;
  std::size_t seen = largest.load();
  while (bytes > seen && !largest.compare_exchange_weak(seen, bytes)) {
  }
}
}  // namespace

// The allocator of this test program: glibc's own, counted.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
void* malloc(std::size_t bytes) { return count(bytes), __libc_malloc(bytes); }
void* calloc(std::size_t n, std::size_t bytes) { return count(n * bytes), __libc_calloc(n, bytes); }
void* realloc(void* old, std::size_t bytes) { return count(bytes), __libc_realloc(old, bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return count(bytes), __libc_memalign(alignment, bytes); }
void* memalign(std::size_t alignment, std::size_t bytes) { return count(bytes), __libc_memalign(alignment, bytes); }
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  count(bytes);
  *out = __libc_memalign(alignment, bytes);
  return *out != nullptr ? 0 : 12;
}
void free(void* memory) {
  if (counting && memory != nullptr) ++given;
  __libc_free(memory);
}
}

namespace tbem::test {
namespace {

using Dims = std::vector<std::int64_t>;

struct Count {
  long taken, kept;
  std::size_t largest;
  std::string implementation;
};

/// Allocations of the third run of an operator whose operands are zero and whose layouts are free, or channel-blocked.
Count allocations(tbem_primitive primitive, std::vector<tbem_operand> operands, const Dims& attributes) {
  const auto& backend = *tbem_backend_cpu();
  const auto& s = runtime::signature(primitive);
  tbem_op_desc desc{sizeof(tbem_op_desc),
                    primitive,
                    s.inputCount(),
                    s.outputCount(),
                    operands.data(),
                    attributes.data(),
                    static_cast<int>(attributes.size()),
                    2};
  tbem_op_info info{};
  EXPECT_EQ(backend.query(&desc, &info), TBEM_OK) << backend.last_error();
  tbem_op* op = nullptr;
  EXPECT_EQ(backend.create(&desc, &op), TBEM_OK);
  std::vector<void*> memory;
  for (const tbem_operand& operand : operands) {
    memory.push_back(nullptr);
    if (!operand.present) continue;
    EXPECT_EQ(backend.allocate(operand.layout.bytes, &memory.back()), TBEM_OK);
    std::memset(memory.back(), 0, operand.layout.bytes);
  }
  void* work = nullptr;
  EXPECT_EQ(backend.allocate(info.workspace, &work), TBEM_OK);
  const double scalars[10] = {1e-5};  // as many as a case takes
  for (int i = 0; i < 2; ++i) backend.run(op, memory.data(), work, scalars);
  taken = given = 0, largest = 0;
  counting = true;
  backend.run(op, memory.data(), work, scalars);
  counting = false;
  const Count seen{taken, taken - given, largest, info.implementation};
  backend.destroy(op);
  for (std::size_t k = 0; k < memory.size(); ++k) backend.release(memory[k], operands[k].layout.bytes);
  backend.release(work, info.workspace);
  return seen;
}

tbem_operand open(const Dims& dims) {
  tbem_operand operand = runtime::plainOperand(TBEM_F32, dims);
  operand.layout = {};
  operand.layout.any = 1;
  return operand;
}

tbem_operand blocked(const Dims& dims) {
  tbem_operand operand = open(dims);
  std::vector<int> order;
  for (int d = 0; d < operand.rank; ++d) order.push_back(d);
  const std::pair<int, int> block{1, 16};
  runtime::setBlocked(operand, order, {&block, 1});
  return operand;
}

TEST(Allocation, TheCounterCounts) {
  taken = 0;
  counting = true;
  void* volatile memory = std::malloc(5000);
  counting = false;
  std::free(memory);
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(largest, 5000u);
}

TEST(Allocation, OurLoopsTakeNothing) {
  const tbem_operand x = blocked({4, 64, 16, 16}), y = blocked({4, 64, 8, 8}), channel = open({64}), one = blocked({4, 64, 1, 1});
  const tbem_operand logits = open({32, 10}), target = runtime::plainOperand(TBEM_I64, Dims{32}),
                     loss = runtime::plainOperand(TBEM_F32, Dims{});
  struct Case {
    tbem_primitive primitive;
    std::vector<tbem_operand> operands;
    Dims attributes;
  };
  const Case cases[] = {
      {TBEM_PRIMITIVE_channel_moments, {x, channel, channel}, {}},
      {TBEM_PRIMITIVE_channel_gradient_sums, {x, x, channel, channel, channel, channel}, {}},
      {TBEM_PRIMITIVE_reduce_sum, {x, channel}, {3, 0, 2, 3}},
      {TBEM_PRIMITIVE_reduce_sum, {x, open({4, 64})}, {2, 2, 3}},
      {TBEM_PRIMITIVE_reduce_max, {x, open({4, 16, 16})}, {1, 1}},
      {TBEM_PRIMITIVE_max_pool2d, {x, y}, {2, 2, 2, 2, 0, 0, 0, 0}},
      {TBEM_PRIMITIVE_max_pool2d_gradient, {y, x, x}, {2, 2, 2, 2, 0, 0, 0, 0}},
      {TBEM_PRIMITIVE_adaptive_avg_pool2d, {x, one}, {}},
      {TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient, {one, x}, {}},
      {TBEM_PRIMITIVE_softmax, {logits, logits}, {1}},
      {TBEM_PRIMITIVE_cross_entropy, {logits, target, loss}, {1}},
      {TBEM_PRIMITIVE_cross_entropy_gradient, {loss, logits, target, logits}, {1}},
      {TBEM_PRIMITIVE_row_gradient_sums,
       {logits, logits, open({32}), open({10}), open({32}), open({10}), open({10}), open({32}), open({32})},
       {}},
      {TBEM_PRIMITIVE_sum_squares, {x, loss}, {}},
      {TBEM_PRIMITIVE_permute, {open({8, 9, 10}), open({10, 8, 9})}, {3, 2, 0, 1}},
      {TBEM_PRIMITIVE_pad, {open({8, 9}), open({20, 20})}, {2, 1, 1, 2, 1, 1}},
      {TBEM_PRIMITIVE_gather, {open({50, 64}), target, open({32, 64})}, {0}},
      {TBEM_PRIMITIVE_gather_gradient, {open({32, 64}), target, open({50, 64})}, {0}},
      {TBEM_PRIMITIVE_arg_max, {logits, target}, {1}},
      {TBEM_PRIMITIVE_constant, {open({10})}, {}},
  };
  for (const Case& c : cases) {
    const Count seen = allocations(c.primitive, c.operands, c.attributes);
    EXPECT_EQ(seen.taken, 0) << runtime::signature(c.primitive).name << " by " << seen.implementation;
  }
}

TEST(Allocation, TheLibraryTakesLittleAndGivesItBack) {
  tbem_device_info device;
  ASSERT_EQ(tbem_backend_cpu()->probe(&device), TBEM_OK);
  if (!std::string(device.isa).starts_with("avx512"))
    GTEST_SKIP() << device.isa << ": matrix products are sgemm there, which takes its packing space itself";
  const tbem_operand x = open({4, 64, 16, 16}), w = open({32, 64, 3, 3}), y = open({4, 32, 16, 16}), b = open({32});
  const tbem_operand x24 = open({4, 24, 16, 16}), w24 = open({40, 24, 3, 3}), y40 = open({4, 40, 16, 16});
  const tbem_operand in = open({32, 100}), weight = open({10, 100}), out = open({32, 10}), bias = open({10}), none{};
  const Dims conv = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  struct Case {
    tbem_primitive primitive;
    std::vector<tbem_operand> operands;
    Dims attributes;
  };
  const Case cases[] = {
      {TBEM_PRIMITIVE_conv2d, {x, w, b, y}, conv},
      {TBEM_PRIMITIVE_conv2d_input_gradient, {y, w, x}, conv},
      {TBEM_PRIMITIVE_conv2d_weight_gradient, {x, y, w}, conv},
      {TBEM_PRIMITIVE_conv2d, {x24, w24, none, y40}, conv},
      {TBEM_PRIMITIVE_conv2d_input_gradient, {y40, w24, x24}, conv},
      {TBEM_PRIMITIVE_conv2d_weight_gradient, {x24, y40, w24}, conv},
      {TBEM_PRIMITIVE_dense, {in, weight, bias, out}, {}},
      {TBEM_PRIMITIVE_dense_input_gradient, {out, weight, in}, {}},
      {TBEM_PRIMITIVE_dense_weight_gradient, {in, out, weight}, {}},
      {TBEM_PRIMITIVE_matmul, {open({3, 40, 50}), open({3, 50, 60}), open({3, 40, 60})}, {0, 0}},
      {TBEM_PRIMITIVE_reorder, {blocked({4, 64, 16, 16}), open({4, 64, 16, 16})}, {}},
  };
  for (const Case& c : cases) {
    const Count seen = allocations(c.primitive, c.operands, c.attributes);
    EXPECT_LT(seen.largest, 4096u) << runtime::signature(c.primitive).name << " by " << seen.implementation;
    EXPECT_EQ(seen.kept, 0) << runtime::signature(c.primitive).name << " by " << seen.implementation;
  }
}

}  // namespace
}  // namespace tbem::test
#endif
