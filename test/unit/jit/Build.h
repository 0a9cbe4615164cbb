// Programs made by hand, whose native code is held against the interpreter of fused loops (test/oracle/Loop.h).
#pragma once

#include "test/Texts.h"
#include "test/oracle/Loop.h"

#include "compiler/jit/glue/Jit.h"
#include "compiler/lower/program/Program.h"
#include "runtime/core/Executable.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace tbem::testing {

using estimate::BufferId;
using graph::ElemNode;
using graph::ElemOp;
using runtime::HostTensor;
using test::timesIn;

/// A device of plain memory. `parallel` cuts the range into pieces and runs them on two threads, the last piece first.
inline const tbem_backend* plainBackend() {
  static const tbem_backend table = {
      TBEM_BACKEND_ABI,
      sizeof(tbem_backend),
      "plain",
      nullptr,
      nullptr,
      nullptr,
      nullptr,
      nullptr,
      [](std::uint64_t bytes, void** out) {
        *out = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
        return *out != nullptr ? TBEM_OK : TBEM_OUT_OF_MEMORY;
      },
      [](void* memory, std::uint64_t) { std::free(memory); },
      [](void* to, const void* from, std::uint64_t bytes) {
        std::memcpy(to, from, bytes);
        return TBEM_OK;
      },
      [](void* to, const void* from, std::uint64_t bytes) {
        std::memcpy(to, from, bytes);
        return TBEM_OK;
      },
      [] { return TBEM_OK; },
      [](std::int32_t, void (*body)(void*, std::int64_t, std::int64_t), void* context, std::int64_t count) {
        const std::int64_t half = count / 2;
        std::thread second([=] {
          for (std::int64_t i = count; i-- > half;) body(context, i, i + 1);
        });
        body(context, 0, half);
        second.join();
      },
      [] { return ""; }};
  return &table;
}

/// Layouts by name for tests. "plain"; "nhwc": second dimension innermost; "c16", "c8": second dimension blocked;
/// "o16i16": OIhw16i16o.
inline tbem_operand layoutOf(std::int32_t dtype, const std::vector<std::int64_t>& dims, const std::string& name) {
  tbem_operand operand = runtime::plainOperand(dtype, dims);
  std::vector<int> order;
  for (int k = 0; k < operand.rank; ++k) order.push_back(k);
  if (operand.rank < 2) return operand;
  if (name == "nhwc") {
    order.erase(order.begin() + 1);
    order.push_back(1);
    runtime::setBlocked(operand, order, {});
  } else if (name == "c16" || name == "c8") {
    const std::pair<int, int> block{1, name == "c16" ? 16 : 8};
    runtime::setBlocked(operand, order, {&block, 1});
  } else if (name == "o16i16") {
    const std::pair<int, int> blocks[] = {{1, 16}, {0, 16}};
    runtime::setBlocked(operand, order, blocks);
  }
  return operand;
}

struct LoopBuilder {
  estimate::FusedLoop loop;
  std::uint32_t push(ElemNode n) {
    loop.nodes.push_back(n);
    return static_cast<std::uint32_t>(loop.nodes.size() - 1);
  }
  std::uint32_t input(BufferId buffer, std::vector<std::int32_t> axes) {
    loop.inputs.push_back({buffer, std::move(axes)});
    return push({.op = ElemOp::Input, .input = static_cast<std::uint32_t>(loop.inputs.size() - 1)});
  }
  std::uint32_t constant(std::int64_t num, std::int64_t den = 1) { return push({.op = ElemOp::Constant, .value = {num, den}}); }
  std::uint32_t scalar(std::uint32_t slot) { return push({.op = ElemOp::Scalar, .input = slot}); }
  std::uint32_t op(ElemOp o, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
    return push({.op = o, .a = a, .b = b, .c = c});
  }
  void output(BufferId buffer, std::uint32_t node) { loop.outputs.push_back({buffer, node}); }
};

struct ProgramBuilder {
  estimate::Program program;
  BufferId add(tbem_operand operand, const std::string& name = "x") {
    estimate::Allocation a;
    a.bytes = operand.layout.bytes;
    a.offset = program.arena;
    a.persistent = true;
    program.arena += (a.bytes + 63) / 64 * 64;
    program.allocations.push_back(a);
    return over(static_cast<std::uint32_t>(program.allocations.size() - 1), operand, name);
  }
  /// A buffer over the bytes of an allocation that is there.
  BufferId over(std::uint32_t allocation, tbem_operand operand, const std::string& name) {
    program.buffers.push_back({graph::kNoTensor, name, operand, allocation});
    return static_cast<BufferId>(program.buffers.size() - 1);
  }
  void add(LoopBuilder builder) {
    const estimate::Buffer& first = program[builder.loop.outputs[0].buffer];
    builder.loop.dims.assign(first.operand.dims, first.operand.dims + first.operand.rank);
    builder.loop.layout = first.operand.layout;
    program.loops.push_back(builder.loop);
    program.steps.push_back({estimate::Step::Kind::Loop, static_cast<std::uint32_t>(program.loops.size() - 1), {}, {}, "loop"});
  }
};

// ---- Running and comparing ---------------------------------------------------------------------------------------------

/// Distance in units in the last place of f32 or f64; 0 for equal numbers and for two NaNs.
inline double ulps(std::int32_t dtype, double x, double y) {
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  if (!std::isfinite(x) || !std::isfinite(y)) return HUGE_VAL;
  const double size = std::max(std::fabs(x), std::fabs(y));
  const double unit = dtype == TBEM_F32 ? std::max(std::ldexp(1.0, std::ilogb(size) - 23), 0x1p-149)
                                        : std::max(std::ldexp(1.0, std::ilogb(size) - 52), 0x1p-1074);
  return std::fabs(x - y) / unit;
}

/// Elements outside the logical shape hold the bytes 0.
inline bool paddingIsZero(const tbem_operand& operand, const char* memory) {
  const std::uint64_t size = runtime::elementBytes(operand.dtype);
  std::vector<char> seen(operand.layout.bytes, 0);
  std::vector<std::int64_t> at(static_cast<std::size_t>(operand.rank), 0);
  for (std::int64_t e = 0; e < runtime::elementCount(operand); ++e) {
    std::int64_t rest = e;
    for (int k = operand.rank - 1; k >= 0; --k) {
      at[static_cast<std::size_t>(k)] = rest % operand.dims[k];
      rest /= operand.dims[k];
    }
    const auto offset = static_cast<std::uint64_t>(runtime::offsetOf(operand, at.data())) * size;
    std::fill_n(seen.begin() + static_cast<std::ptrdiff_t>(offset), size, 1);
  }
  for (std::uint64_t i = 0; i < operand.layout.bytes; ++i) {
    if (seen[i] == 0 && memory[i] != 0) return false;
  }
  return true;
}

/// Compiles the program's loops, runs them once and holds every output of every loop against the interpreter (loops must not
/// depend on each other). `inputs` by buffer. Returns the largest distance in ulp.
inline double runAndCompare(const estimate::Program& program, const std::map<std::uint32_t, HostTensor>& inputs,
                            double tolerance = 0, std::uint64_t seed = 7, std::uint64_t step = 3,
                            const tbem_backend& backend = *plainBackend()) {
  auto compiled = jit::compile(program, {.cache = false});
  if (!compiled) {
    ADD_FAILURE() << compiled.error().message;
    return HUGE_VAL;
  }
  auto instance = runtime::Instance::create(compiled->executable, backend, {.poison = true, .guard = 4096});
  if (!instance) {
    ADD_FAILURE() << instance.error().message;
    return HUGE_VAL;
  }
  for (const auto& [buffer, value] : inputs) EXPECT_TRUE((*instance)->write(buffer, value).has_value());
  EXPECT_TRUE((*instance)->initialise(seed).has_value());
  auto ran = (*instance)->run(step);
  EXPECT_TRUE(ran.has_value()) << (ran ? "" : ran.error().message);
  std::vector<double> scalars = program.scalars;
  if (scalars.empty()) scalars.push_back(0);
  scalars[0] = static_cast<double>(step);
  double worst = 0;
  for (const auto& loop : program.loops) {
    std::vector<HostTensor> operands;
    for (const auto& in : loop.inputs) {
      // An in-place input was overwritten: take what was there before, by allocation.
      const std::uint32_t allocation = program[in.buffer].allocation;
      const auto found = std::find_if(inputs.begin(), inputs.end(),
                                      [&](const auto& i) { return program.buffers[i.first].allocation == allocation; });
      operands.push_back(found->second);
    }
    const auto expected = oracle::LoopInterpreter(program, loop, operands, scalars, seed).run();
    for (std::size_t o = 0; o < expected.size(); ++o) {
      const BufferId id = loop.outputs[o].buffer;
      const auto got = (*instance)->read(static_cast<std::uint32_t>(id));
      EXPECT_TRUE(got.has_value());
      const auto x = got->doubles(), y = expected[o].doubles();
      for (std::size_t e = 0; e < x.size(); ++e) {
        const double distance = tbem_is_floating(got->dtype) ? ulps(got->dtype, x[e], y[e]) : x[e] == y[e] ? 0 : HUGE_VAL;
        worst = std::max(worst, distance);
        if (!(distance <= tolerance)) {
          ADD_FAILURE() << "output " << o << " element " << e << ": " << x[e] << " for " << y[e] << ", " << distance << " ulp";
          return distance;
        }
      }
      std::vector<char> raw(program[id].operand.layout.bytes);
      // Read the padding too: a buffer seen as plain bytes.
      EXPECT_EQ(backend.copy_out(raw.data(), (*instance)->address(static_cast<std::uint32_t>(id)), raw.size()), TBEM_OK);
      EXPECT_TRUE(paddingIsZero(program[id].operand, raw.data())) << "padding of " << program[id].name;
    }
  }
  const auto arena = (*instance)->measureArena();
  EXPECT_TRUE(arena.has_value());
  EXPECT_TRUE(arena->guardIntact);
  EXPECT_EQ(arena->stray, runtime::kAbsent);
  return worst;
}

/// Random data of any type; integers small.
inline HostTensor randomTensor(const tbem_operand& operand, std::uint64_t seed, double low = -2, double high = 2) {
  std::vector<double> values(static_cast<std::size_t>(runtime::elementCount(operand)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto words = runtime::philoxAt(seed, 99, 0, i);
    values[i] = tbem_is_floating(operand.dtype) ? low + (high - low) * (words[1] * 0x1p-32)
                : operand.dtype == TBEM_BOOL    ? static_cast<double>(words[0] % 2)
                : operand.dtype == TBEM_U8      ? static_cast<double>(words[0] % 200)
                                                : static_cast<double>(words[0] % 21) - 10;
  }
  return HostTensor::of(operand.dtype, {operand.dims, operand.dims + operand.rank}, values);
}

}  // namespace tbem::testing
