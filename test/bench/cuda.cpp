// How fast the primitives of cuda are at shapes that networks have: gigabytes a second that their operands alone must cross,
// against what a copy within the card moves in the same run. JSON, a line each. `--only NAME` measures the primitives of that
// name,
// `--times N` the median of so many.
#include "runtime/core/Layout.h"
#include "runtime/core/Primitive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace tbem;
using Dims = std::vector<std::int64_t>;

const tbem_backend& card() { return *tbem_backend_cuda(); }

void must(tbem_status status, const std::string& doing) {
  if (status == TBEM_OK) return;
  fmt::print(stderr, "{}: {}\n", doing, card().last_error());
  std::exit(1);
}

struct Case {
  tbem_primitive primitive;
  std::vector<std::optional<Dims>> inputs;
  std::vector<Dims> outputs;
  std::vector<std::int64_t> attributes;
  std::vector<double> scalars;
  std::int64_t most = 1;  ///< numbers of an i64 input lie below it
  double operations = 0;  ///< of sums of products, each two
};

class Memory {
public:
  explicit Memory(std::uint64_t bytes) : bytes_(bytes) { must(card().allocate(bytes, &address_), "allocating"); }
  ~Memory() { card().release(address_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* address() const { return address_; }

private:
  std::uint64_t bytes_;
  void* address_ = nullptr;
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The median of the times that one of `repeats` takes which are recorded together, so that starting them costs nothing.
template <class Work>
double timeOf(Work work, int times, int repeats) {
  const tbem_device_table& device = *card().device;
  must(work(), "running");  // whatever is made at the first time
  must(card().synchronize(), "running");
  must(device.record(), "recording");
  for (int repeat = 0; repeat < repeats; ++repeat) must(work(), "recording");
  tbem_recording* recording = nullptr;
  must(device.recorded(&recording), "recording");
  std::vector<double> each;
  for (int time = 0; time <= times; ++time) {
    const double start = seconds();
    must(device.replay(recording), "replaying");
    must(card().synchronize(), "replaying");
    if (time > 0) each.push_back((seconds() - start) / repeats);
  }
  device.forget(recording);
  std::nth_element(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2), each.end());
  return each[each.size() / 2];
}

/// Numbers between -1 and 1 (f32), or from 0 to below `most` (i64), the same in each run. A list of rows has all of them.
std::vector<char> contents(const tbem_operand& operand, std::int64_t most, bool isList) {
  std::vector<char> bytes(operand.layout.bytes);
  std::uint64_t state = 88172645463325252U;
  for (std::int64_t i = 0; i < runtime::elementCount(operand); ++i) {
    state ^= state << 13U, state ^= state >> 7U, state ^= state << 17U;
    if (operand.dtype == TBEM_I64) {
      const std::int64_t number =
          isList ? (i == 0 ? operand.dims[0] - 1 : i - 1) : static_cast<std::int64_t>(state % static_cast<std::uint64_t>(most));
      std::memcpy(bytes.data() + 8 * i, &number, sizeof number);
    } else if (operand.dtype == TBEM_F32) {
      const float number = static_cast<float>(state >> 40U) * 0x1p-23F - 1;
      std::memcpy(bytes.data() + 4 * i, &number, sizeof number);
    } else {
      bytes[static_cast<std::size_t>(i)] = static_cast<char>(state & 1U);
    }
  }
  return bytes;
}

int dtypeOf(tbem_primitive primitive, int operand) {
  if (primitive == TBEM_PRIMITIVE_split_rows) return operand == 0 ? TBEM_BOOL : TBEM_I64;
  if (primitive == TBEM_PRIMITIVE_move_rows) return operand == 1 || operand == 2 ? TBEM_I64 : TBEM_F32;
  return operand == runtime::signature(primitive).index ? TBEM_I64 : TBEM_F32;
}

std::vector<tbem_operand> operandsOf(const Case& measured) {
  std::vector<std::optional<Dims>> shapes = measured.inputs;
  shapes.insert(shapes.end(), measured.outputs.begin(), measured.outputs.end());
  std::vector<tbem_operand> operands;
  for (const std::optional<Dims>& dims : shapes) {
    operands.emplace_back();
    if (dims) operands.back() = runtime::plainOperand(dtypeOf(measured.primitive, static_cast<int>(operands.size()) - 1), *dims);
  }
  if (measured.primitive == TBEM_PRIMITIVE_split_rows) operands.resize(6);
  return operands;
}

void measure(const Case& measured, double copied, int times) {
  std::vector<tbem_operand> operands = operandsOf(measured);
  const int inputs = static_cast<int>(measured.inputs.size());
  tbem_op_desc desc{};
  desc.size = sizeof desc;
  desc.primitive = measured.primitive;
  desc.inputs = inputs, desc.outputs = static_cast<int>(operands.size()) - inputs;
  desc.operands = operands.data();
  desc.attributes = measured.attributes.data(), desc.attribute_count = static_cast<int>(measured.attributes.size());
  const std::string name{runtime::signature(measured.primitive).name};
  tbem_op_info info{};
  must(card().query(&desc, &info), name);
  tbem_op* op = nullptr;
  must(card().create(&desc, &op), name);
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<void*> addresses;
  std::uint64_t bytes = 0;
  for (int k = 0; k < static_cast<int>(operands.size()); ++k) {
    const tbem_operand& operand = operands[static_cast<std::size_t>(k)];
    addresses.push_back(nullptr);
    if (operand.present == 0) continue;
    memory.push_back(std::make_unique<Memory>(operand.layout.bytes));
    addresses.back() = memory.back()->address();
    bytes += operand.layout.bytes;
    if (k >= inputs) continue;
    const std::vector<char> filled = contents(operand, measured.most, measured.primitive == TBEM_PRIMITIVE_move_rows);
    must(card().copy_in(addresses.back(), filled.data(), filled.size()), name);
  }
  const Memory work(std::max<std::uint64_t>(info.workspace, 1));
  const auto run = [&] {
    return card().run(op, addresses.data(), info.workspace > 0 ? work.address() : nullptr, measured.scalars.data());
  };
  const double taken = timeOf(run, times, bytes < 50'000'000 ? 50 : 10);
  card().destroy(op);
  const Dims& largest = measured.inputs.empty() ? measured.outputs[0]
                        : measured.inputs.size() > 1 && measured.inputs[0]->size() < measured.inputs[1]->size()
                            ? *measured.inputs[1]
                            : *measured.inputs[0];
  fmt::print(
      "{{\"primitive\": \"{}\", \"shape\": [{}], \"attributes\": [{}], \"by\": \"{}\", \"microseconds\": {:.1f}, \"bytes\": {}, "
      "\"GB/s\": {:.0f}, "
      "\"of a copy\": {:.2f}{}}}\n",
      name, fmt::join(largest, ", "), fmt::join(measured.attributes, ", "), info.implementation, taken * 1e6, bytes,
      static_cast<double>(bytes) / taken * 1e-9, static_cast<double>(bytes) / taken / copied,
      measured.operations > 0 ? fmt::format(", \"TFLOP/s\": {:.1f}", measured.operations / taken * 1e-12) : "");
  std::fflush(stdout);
}

/// Bytes a second that a copy within the card reads and writes: the driver's or that of `reorder`, whichever is faster.
double copySpeed(int times) {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 30;
  const Memory from(kBytes), to(kBytes);
  const auto speed = [times](const auto& copy) { return 2 * static_cast<double>(kBytes) / timeOf(copy, times, 10); };
  const double drivers = speed([&] { return card().device->move(to.address(), from.address(), kBytes); });
  tbem_operand operands[2];
  for (tbem_operand& operand : operands)
    operand = runtime::plainOperand(TBEM_F32, {static_cast<std::int64_t>(kBytes / sizeof(float))});
  tbem_op_desc desc{};
  desc.size = sizeof desc, desc.primitive = TBEM_PRIMITIVE_reorder, desc.inputs = desc.outputs = 1, desc.operands = operands;
  tbem_op* op = nullptr;
  must(card().create(&desc, &op), "a copy");
  void* const addresses[] = {from.address(), to.address()};
  const double kernels = speed([&] { return card().run(op, addresses, nullptr, nullptr); });
  card().destroy(op);
  fmt::print("{{\"copy by the driver\": {:.0f}, \"by reorder\": {:.0f}, \"unit\": \"GB/s\"}}\n", drivers * 1e-9, kernels * 1e-9);
  return std::max(drivers, kernels);
}

/// ResNet-50 at batch 64.
std::vector<Case> imageCases() {
  const Dims x = {64, 256, 56, 56}, half = {64, 128, 56, 56}, c = {256}, stem = {64, 64, 112, 112}, pooled = {64, 64, 56, 56};
  const Dims last = {64, 2048, 7, 7}, mean = {64, 2048, 1, 1}, narrow = {64, 64, 56, 56}, kernel = {64, 64, 3, 3};
  const std::vector<std::int64_t> window = {3, 3, 2, 2, 1, 1, 1, 1}, pairs = {2, 2, 2, 2, 0, 0, 0, 0, 1},
                                  same = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const double products = 2.0 * 64 * 64 * 64 * 9 * 56 * 56;
  return {
      {TBEM_PRIMITIVE_conv2d, {narrow, kernel, std::nullopt}, {narrow}, same, {}, 1, products},
      {TBEM_PRIMITIVE_conv2d_input_gradient, {narrow, kernel}, {narrow}, same, {}, 1, products},
      {TBEM_PRIMITIVE_conv2d_weight_gradient, {narrow, narrow}, {kernel}, same, {}, 1, products},
      {TBEM_PRIMITIVE_channel_moments, {x}, {c, c}, {}, {}},
      {TBEM_PRIMITIVE_channel_moments, {last}, {{2048}, {2048}}, {}, {}},
      {TBEM_PRIMITIVE_channel_gradient_sums, {x, x, c, c}, {c, c}, {}, {1.5}},
      {TBEM_PRIMITIVE_reduce_sum, {x}, {c}, {3, 0, 2, 3}, {}},
      {TBEM_PRIMITIVE_reduce_sum, {x}, {{64, 256}}, {2, 2, 3}, {}},
      {TBEM_PRIMITIVE_reduce_sum, {x}, {{64, 56, 56}}, {1, 1}, {}},
      {TBEM_PRIMITIVE_reduce_sum, {x}, {{}}, {4, 0, 1, 2, 3}, {}},
      {TBEM_PRIMITIVE_reduce_max, {x}, {{64, 256}}, {2, 2, 3}, {}},
      {TBEM_PRIMITIVE_reduce_max_gradient, {Dims{64, 256}, x, Dims{64, 256}}, {x}, {2, 2, 3}, {}},
      {TBEM_PRIMITIVE_sum_squares, {x}, {{}}, {}, {}},
      {TBEM_PRIMITIVE_max_pool2d, {stem}, {pooled}, window, {}},
      {TBEM_PRIMITIVE_max_pool2d_gradient, {pooled, stem}, {stem}, window, {}},
      {TBEM_PRIMITIVE_avg_pool2d, {stem}, {pooled}, pairs, {}},
      {TBEM_PRIMITIVE_avg_pool2d_gradient, {pooled}, {stem}, pairs, {}},
      {TBEM_PRIMITIVE_adaptive_avg_pool2d, {last}, {mean}, {}, {}},
      {TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient, {mean}, {last}, {}, {}},
      {TBEM_PRIMITIVE_permute, {x}, {{64, 56, 56, 256}}, {4, 0, 2, 3, 1}, {}},
      {TBEM_PRIMITIVE_permute, {Dims{64, 3, 224, 224}}, {{64, 224, 224, 3}}, {4, 0, 2, 3, 1}, {}},
      {TBEM_PRIMITIVE_permute, {Dims{32, 1024, 12, 64}}, {{32, 12, 1024, 64}}, {4, 0, 2, 1, 3}, {}},
      {TBEM_PRIMITIVE_pad, {x}, {{64, 256, 58, 58}}, {4, 0, 0, 1, 1, 4, 0, 0, 0, 0}, {}},
      {TBEM_PRIMITIVE_slice, {x}, {half}, {4, 0, 64, 0, 0, 4, 1, 1, 1, 1}, {}},
      {TBEM_PRIMITIVE_concat, {half, half}, {x}, {1}, {}},
      {TBEM_PRIMITIVE_reorder, {x}, {x}, {}, {}},
      {TBEM_PRIMITIVE_move_rows, {x, Dims{65}, std::nullopt}, {x}, {}, {}},
      {TBEM_PRIMITIVE_split_rows, {Dims{64}, std::nullopt}, {{65}, {65}}, {}, {}},
  };
}

/// A language model: 50257 classes, rows of 768 to 4096.
std::vector<Case> textCases() {
  const Dims logits = {1024, 50257}, lines = {1024}, hidden = {4096, 1024}, rows = {4096}, features = {1024},
             table = {50257, 768};
  const Dims tokens = {8, 1024}, embedded = {8, 1024, 768};
  const double products = 2.0 * 4096 * 1024 * 4096;
  return {
      {TBEM_PRIMITIVE_dense, {hidden, Dims{4096, 1024}, Dims{4096}}, {{4096, 4096}}, {}, {}, 1, products},
      {TBEM_PRIMITIVE_dense_input_gradient, {Dims{4096, 4096}, Dims{4096, 1024}}, {hidden}, {}, {}, 1, products},
      {TBEM_PRIMITIVE_dense_weight_gradient, {hidden, Dims{4096, 4096}}, {{4096, 1024}}, {}, {}, 1, products},
      {TBEM_PRIMITIVE_matmul,
       {Dims{96, 1024, 64}, Dims{96, 1024, 64}},
       {{96, 1024, 1024}},
       {0, 1},
       {},
       1,
       2.0 * 96 * 1024 * 1024 * 64},
      {TBEM_PRIMITIVE_softmax, {logits}, {logits}, {1}, {}},
      {TBEM_PRIMITIVE_softmax_gradient, {logits, logits}, {logits}, {1}, {}},
      {TBEM_PRIMITIVE_softmax, {Dims{98304, 1024}}, {{98304, 1024}}, {1}, {}},
      {TBEM_PRIMITIVE_softmax_gradient, {Dims{98304, 1024}, Dims{98304, 1024}}, {{98304, 1024}}, {1}, {}},
      {TBEM_PRIMITIVE_log_softmax, {logits}, {logits}, {1}, {}},
      {TBEM_PRIMITIVE_log_softmax_gradient, {logits, logits}, {logits}, {1}, {}},
      {TBEM_PRIMITIVE_cross_entropy, {logits, lines}, {{}}, {1}, {0.1}, 50257},
      {TBEM_PRIMITIVE_cross_entropy_gradient, {Dims{}, logits, lines}, {logits}, {1}, {0.1}, 50257},
      {TBEM_PRIMITIVE_cross_entropy, {Dims{16, 21, 512, 512}, Dims{16, 512, 512}}, {{}}, {1}, {0}, 21},
      {TBEM_PRIMITIVE_arg_max, {logits}, {lines}, {1}, {}},
      {TBEM_PRIMITIVE_row_gradient_sums, {hidden, hidden, rows, features, rows}, {features, features, rows, rows}, {}, {1.5}},
      {TBEM_PRIMITIVE_reduce_sum, {hidden}, {features}, {1, 0}, {}},
      {TBEM_PRIMITIVE_reduce_sum, {hidden}, {rows}, {1, 1}, {}},
      {TBEM_PRIMITIVE_gather, {table, tokens}, {embedded}, {0}, {}, 50257},
      {TBEM_PRIMITIVE_gather_gradient, {embedded, tokens}, {table}, {0}, {}, 50257},
      {TBEM_PRIMITIVE_gather_gradient, {embedded, tokens}, {table}, {0}, {}, 1},
      {TBEM_PRIMITIVE_constant, {}, {{1000}}, {}, std::vector<double>(1000, 0.5)},
  };
}

}  // namespace

int main(int count, char** words) {
  std::string only;
  int times = 5;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(words[i], "--only") == 0) only = words[i + 1];
    if (std::strcmp(words[i], "--times") == 0) times = std::max(std::atoi(words[i + 1]), 1);
  }
  tbem_device_info info{};
  must(card().probe(&info), "no card");
  fmt::print("{{\"card\": \"{}\", \"libraries\": \"{}\"}}\n", info.name, info.library);
  const double copied = copySpeed(times);
  for (const auto& cases : {imageCases(), textCases()}) {
    for (const Case& measured : cases) {
      if (only.empty() || runtime::signature(measured.primitive).name == only) measure(measured, copied, times);
    }
  }
  return 0;
}
