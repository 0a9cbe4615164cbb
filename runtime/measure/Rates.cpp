#include "runtime/measure/Rates.h"

#include "runtime/core/Layout.h"
#include "runtime/measure/Meters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

namespace tbem::measure {

namespace {

constexpr std::int64_t kSide = 1536;         // of the square matrices: 7.2 GFLOP a product
constexpr std::int64_t kCount = 32'000'000;  // floats an array: 128 MB, beyond any cache
constexpr double kSeconds = 0.6;             // of each of the two measurements

/// Memory of the backend, given back at the end of the scope.
class Memory {
public:
  Memory(const tbem_backend& backend, std::uint64_t bytes) : backend(backend), bytes(bytes) {
    if (backend.allocate(bytes, &data) != TBEM_OK) data = nullptr;
  }
  ~Memory() {
    if (data != nullptr) backend.release(data, bytes);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  float* floats() const { return static_cast<float*>(data); }
  void* data = nullptr;

private:
  const tbem_backend& backend;
  std::uint64_t bytes;
};

std::string lastError(const tbem_backend& backend, const char* what) {
  const char* text = backend.last_error();
  return fmt::format("backend {} {}: {}", backend.name, what, text != nullptr ? text : "no reason given");
}

/// The shortest of repeated runs, in seconds; negative after a failure.
template <class Run>
double shortest(Run run) {
  double best = -1;
  const double start = monotonicSeconds();
  for (int i = 0; i < 3 || monotonicSeconds() - start < kSeconds; ++i) {
    const double before = monotonicSeconds();
    if (!run()) return -1;
    const double taken = monotonicSeconds() - before;
    if (i > 0 && (best < 0 || taken < best)) best = taken;  // the first run touches the memory
  }
  return best;
}

tl::expected<double, std::string> productRate(const tbem_backend& backend, int threads) {
  std::array<tbem_operand, 3> operands{};
  for (tbem_operand& operand : operands) {
    operand.present = 1;
    operand.dtype = TBEM_F32;
    operand.rank = 2;
    operand.dims[0] = operand.dims[1] = kSide;
    runtime::setPlain(operand);
  }
  const std::array<std::int64_t, 2> attributes{0, 0};
  tbem_op_desc desc{};
  desc.size = sizeof desc;
  desc.primitive = TBEM_PRIMITIVE_matmul;
  desc.inputs = 2;
  desc.outputs = 1;
  desc.operands = operands.data();
  desc.attributes = attributes.data();
  desc.attribute_count = 2;
  desc.threads = threads;
  tbem_op_info info{};
  tbem_op* op = nullptr;
  if (backend.query(&desc, &info) != TBEM_OK || backend.create(&desc, &op) != TBEM_OK)
    return tl::unexpected(lastError(backend, "has no f32 matrix product"));
  const std::uint64_t bytes = operands[0].layout.bytes;
  const Memory a(backend, bytes), b(backend, bytes), y(backend, bytes),
      work(backend, std::max<std::uint64_t>(info.workspace, 64));
  double best = -1;
  if (a.data != nullptr && b.data != nullptr && y.data != nullptr && work.data != nullptr) {
    std::fill_n(a.floats(), kSide * kSide, 1.0F);
    std::fill_n(b.floats(), kSide * kSide, 0.5F);
    const std::array<void*, 3> pointers{a.data, b.data, y.data};
    best = shortest([&] { return backend.run(op, pointers.data(), work.data, nullptr) == TBEM_OK; });
  }
  backend.destroy(op);
  if (best <= 0) return tl::unexpected(lastError(backend, "cannot run its matrix product"));
  return 2.0 * static_cast<double>(kSide) * static_cast<double>(kSide) * static_cast<double>(kSide) / best;
}

struct Arrays {
  float *a, *b, *c;
  std::atomic<std::uint64_t> sum{0};
};

void triad(void* context, std::int64_t begin, std::int64_t end) {
  const Arrays& x = *static_cast<Arrays*>(context);
  float* const a = x.a;
  const float *const b = x.b, *const c = x.c;
  for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + 3.0F * c[i];
}

/// Reads b as words, whose sum the compiler may take in any order.
void readAll(void* context, std::int64_t begin, std::int64_t end) {
  Arrays& x = *static_cast<Arrays*>(context);
  std::uint64_t sum = 0;
  for (std::int64_t i = begin / 2; i < end / 2; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, x.b + 2 * i, sizeof word);
    sum += word;
  }
  x.sum += sum;
}

tl::expected<double, std::string> bandwidth(const tbem_backend& backend, int threads) {
  const std::uint64_t bytes = sizeof(float) * static_cast<std::uint64_t>(kCount);
  const Memory a(backend, bytes), b(backend, bytes), c(backend, bytes);
  if (a.data == nullptr || b.data == nullptr || c.data == nullptr)
    return tl::unexpected(lastError(backend, "cannot give 400 MB of memory"));
  std::fill_n(b.floats(), kCount, 1.0F);
  std::fill_n(c.floats(), kCount, 2.0F);
  Arrays arrays{a.floats(), b.floats(), c.floats(), {}};
  const auto pass = [&](void (*body)(void*, std::int64_t, std::int64_t)) {
    return shortest([&] {
      backend.parallel(threads, body, &arrays, kCount);
      return true;
    });
  };
  const double whole = static_cast<double>(bytes);
  return std::max(3 * whole / pass(triad), whole / pass(readAll));
}

}  // namespace

tl::expected<Rates, std::string> measureRates(const tbem_backend& backend, int threads) {
  const auto flops = productRate(backend, threads);
  if (!flops) return tl::unexpected(flops.error());
  const auto bytes = bandwidth(backend, threads);
  if (!bytes) return tl::unexpected(bytes.error());
  return Rates{*flops, *bytes};
}

}  // namespace tbem::measure
