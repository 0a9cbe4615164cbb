#include "test/problems/Problem.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace tbem::test {
namespace {

constexpr std::size_t kGuard = 256;

/// 64-aligned memory with guard bytes behind it: the host's, which is also what is seen of a device's when it is sent and
/// fetched.
class Block {
public:
  Block(const tbem_backend& backend, std::size_t bytes, unsigned char fill)
      : backend_(backend), bytes_(bytes), whole_((bytes + kGuard + 63) / 64 * 64) {
    memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(64, whole_)));
    std::memset(memory_.get(), fill, bytes);
    std::memset(memory_.get() + bytes, 0xA5, whole_ - bytes);
    if (backend.device == nullptr) return;
    void* there = nullptr;
    EXPECT_EQ(backend.allocate(whole_, &there), TBEM_OK) << backend.last_error();
    there_ = std::unique_ptr<void, Release>(there, Release{&backend, whole_});
  }
  /// The host's.
  void* data() const { return memory_.get(); }
  /// Where the backend has it.
  void* address() const { return backend_.device != nullptr ? there_.get() : memory_.get(); }
  void send() const {
    if (!there_) return;
    EXPECT_EQ(backend_.copy_in(there_.get(), memory_.get(), whole_), TBEM_OK) << backend_.last_error();
  }
  void fetch() const {
    if (!there_) return;
    EXPECT_EQ(backend_.copy_out(memory_.get(), there_.get(), whole_), TBEM_OK) << backend_.last_error();
  }
  std::string copy() const { return {reinterpret_cast<const char*>(memory_.get()), bytes_}; }
  bool guardIntact() const {
    return std::all_of(memory_.get() + bytes_, memory_.get() + bytes_ + kGuard, [](unsigned char c) { return c == 0xA5; });
  }

private:
  struct Free {
    void operator()(unsigned char* p) const { std::free(p); }
  };
  struct Release {
    const tbem_backend* backend;
    std::size_t bytes;
    void operator()(void* p) const { backend->release(p, bytes); }
  };
  const tbem_backend& backend_;
  std::size_t bytes_, whole_;
  std::unique_ptr<unsigned char, Free> memory_;
  std::unique_ptr<void, Release> there_{nullptr, Release{}};
};

tbem_operand operandOf(const Array& array, int dtype) {
  tbem_operand operand{};
  operand.present = 1;
  operand.dtype = array.integer ? static_cast<int>(TBEM_I64) : dtype;
  operand.rank = static_cast<int>(array.dims.size());
  std::copy(array.dims.begin(), array.dims.end(), operand.dims);
  operand.layout.any = 1;
  return operand;
}

void fill(const tbem_operand& operand, const std::vector<double>& values, void* memory) {
  std::vector<char> plain(values.size() * runtime::elementBytes(operand.dtype));
  runtime::fromDoubles(operand.dtype, values, plain.data());
  runtime::fromPlain(operand, plain.data(), memory);
}

std::vector<double> read(const tbem_operand& operand, const void* memory) {
  std::vector<double> values(static_cast<std::size_t>(runtime::elementCount(operand)));
  std::vector<char> plain(values.size() * runtime::elementBytes(operand.dtype));
  runtime::toPlain(operand, memory, plain.data());
  runtime::toDoubles(operand.dtype, plain.data(), values);
  return values;
}

/// Every byte that belongs to no element must be zero.
bool paddingIsZero(const tbem_operand& operand, const void* memory) {
  std::string padding(static_cast<const char*>(memory), operand.layout.bytes);
  std::int64_t at[TBEM_MAX_RANK] = {};
  const std::size_t size = runtime::elementBytes(operand.dtype);
  for (std::int64_t i = 0; i < runtime::elementCount(operand); ++i) {
    std::memset(padding.data() + static_cast<std::size_t>(runtime::offsetOf(operand, at)) * size, 0, size);
    for (int d = operand.rank; d-- > 0;) {
      if (++at[d] < operand.dims[d]) break;
      at[d] = 0;
    }
  }
  return std::all_of(padding.begin(), padding.end(), [](char c) { return c == 0; });
}

/// Records what `run` does and replays it.
tbem_status replayed(const tbem_device_table& device, const std::function<tbem_status()>& run, int times) {
  if (const tbem_status status = device.record()) return status;
  const tbem_status asked = run();
  tbem_recording* recording = nullptr;
  tbem_status status = device.recorded(&recording);
  if (asked != TBEM_OK) status = asked;
  for (int time = 0; time < times && status == TBEM_OK; ++time) status = device.replay(recording);
  if (recording != nullptr) device.forget(recording);
  return status;
}

}  // namespace

std::string Problem::text() const {
  std::string text{runtime::signature(primitive).name};
  for (const auto& input : inputs) text += input ? fmt::format(" [{}]", fmt::join(input->dims, ",")) : std::string(" none");
  text += " ->";
  for (const auto& output : outputs) text += fmt::format(" [{}]", fmt::join(output.dims, ","));
  return text + fmt::format(" attributes {}", fmt::join(attributes, " "));
}

Outcome runOn(const tbem_backend& backend, const Problem& problem, const Settings& settings) {
  Outcome outcome;
  for (const auto& input : problem.inputs) outcome.operands.push_back(input ? operandOf(*input, settings.dtype) : tbem_operand{});
  for (const Array& output : problem.outputs) outcome.operands.push_back(operandOf(output, settings.dtype));
  if (settings.layouts) settings.layouts(outcome.operands);
  tbem_op_desc desc{sizeof(tbem_op_desc),
                    problem.primitive,
                    static_cast<int>(problem.inputs.size()),
                    static_cast<int>(problem.outputs.size()),
                    outcome.operands.data(),
                    problem.attributes.data(),
                    static_cast<int>(problem.attributes.size()),
                    settings.threads,
                    settings.algorithm,
                    settings.tf32 ? 1 : 0};
  const auto failed = [&](tbem_status status) {
    outcome.status = status;
    if (status != TBEM_OK) outcome.error = backend.last_error();
    return status != TBEM_OK;
  };
  tbem_op_info info{};
  if (failed(backend.query(&desc, &info))) return outcome;
  outcome.implementation = info.implementation;
  outcome.workspace = info.workspace;
  tbem_op* op = nullptr;
  if (failed(backend.create(&desc, &op))) return outcome;

  std::vector<Block> blocks;
  std::vector<void*> memory;
  std::vector<std::string> before;
  for (std::size_t k = 0; k < outcome.operands.size(); ++k) {
    const tbem_operand& operand = outcome.operands[k];
    EXPECT_EQ(runtime::checkLayout(operand), operand.present ? "" : runtime::checkLayout(operand)) << problem.text();
    blocks.emplace_back(backend, operand.present ? operand.layout.bytes : 0, 0xFF);
    memory.push_back(operand.present ? blocks.back().address() : nullptr);
    if (operand.present && k < problem.inputs.size()) fill(operand, problem.inputs[k]->values, blocks.back().data());
    before.push_back(blocks.back().copy());
    blocks.back().send();
  }
  const Block work(backend, info.workspace, 0xFF);
  work.send();
  const auto run = [&] {
    return backend.run(op, memory.data(), info.workspace > 0 ? work.address() : nullptr, problem.scalars.data());
  };
  const bool bad =
      failed(settings.replays > 0 ? replayed(*backend.device, run, settings.replays) : run()) || failed(backend.synchronize());
  backend.destroy(op);
  work.fetch();
  for (const Block& block : blocks) block.fetch();
  EXPECT_TRUE(work.guardIntact()) << problem.text() << ": wrote behind its workspace, " << info.implementation;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    EXPECT_TRUE(blocks[k].guardIntact()) << problem.text() << ": wrote behind operand " << k << ", " << info.implementation;
    if (k < problem.inputs.size()) {
      EXPECT_EQ(before[k], blocks[k].copy()) << problem.text() << ": changed input " << k << ", " << info.implementation;
    }
  }
  if (bad) return outcome;
  for (std::size_t k = problem.inputs.size(); k < blocks.size(); ++k) {
    outcome.outputs.emplace_back();
    outcome.bytes.emplace_back();
    if (!outcome.operands[k].present) continue;
    EXPECT_TRUE(paddingIsZero(outcome.operands[k], blocks[k].data()))
        << problem.text() << ": padding of the result, " << info.implementation;
    outcome.outputs.back() = read(outcome.operands[k], blocks[k].data());
    outcome.bytes.back() = blocks[k].copy();
  }
  return outcome;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) {
      if (std::isfinite(b[i])) norm += b[i] * b[i];
      continue;
    }
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  if (difference == 0) return 0;
  return std::isfinite(difference) ? std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30) : HUGE_VAL;
}

tbem_primitive primitiveNamed(const std::string& name) {
  for (int p = 0; p < TBEM_PRIMITIVE_COUNT; ++p) {
    if (runtime::signature(static_cast<tbem_primitive>(p)).name == name) return static_cast<tbem_primitive>(p);
  }
  return TBEM_PRIMITIVE_COUNT;
}

}  // namespace tbem::test
