// Programs made by hand, and a plain interpreter of fused loops over logical coordinates to compare native code with.
#pragma once

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
#include <variant>
#include <vector>

namespace tbem::testing {

using estimate::BufferId;
using graph::ElemNode;
using graph::ElemOp;
using runtime::HostTensor;

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

// ---- The interpreter ---------------------------------------------------------------------------------------------------

/// A number of one of four kinds. Uniform ones are doubles that take the type of what they meet.
struct Scalar {
  enum Kind { Bool, Int, F32, F64 } kind = F64;
  bool uniform = false, whole = false;
  bool b = false;
  std::int64_t i = 0;
  double f = 0;  // F32 values are kept rounded to float
  double number() const { return kind == Bool ? b : kind == Int ? static_cast<double>(i) : f; }
  bool truth() const { return kind == Bool ? b : kind == Int ? i != 0 : f != 0; }
};
inline Scalar makeFloat(Scalar::Kind kind, double v) {
  return {kind, false, false, false, 0, kind == Scalar::F32 ? static_cast<double>(static_cast<float>(v)) : v};
}
inline Scalar makeBool(bool v) { return {Scalar::Bool, false, false, v}; }
inline Scalar makeInt(std::int64_t v) { return {Scalar::Int, false, false, false, v}; }
inline Scalar makeUniform(double v, bool whole) { return {Scalar::F64, true, whole, false, 0, v}; }

inline std::int64_t truncate(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 9223372036854775807.0) return INT64_MAX;
  if (v <= -9223372036854775808.0) return INT64_MIN;
  return static_cast<std::int64_t>(v);
}
inline Scalar convert(const Scalar& s, Scalar::Kind kind) {
  if (kind == Scalar::Bool) return makeBool(std::isnan(s.number()) || s.truth());
  if (kind == Scalar::Int) return makeInt(s.kind == Scalar::Int ? s.i : truncate(s.number()));
  if (s.kind == Scalar::Int && kind == Scalar::F32) return makeFloat(kind, static_cast<double>(static_cast<float>(s.i)));
  return makeFloat(kind, s.number());
}

/// Evaluates one loop at one element. Written from the words of Program.h and Types.h, not from the compiler's code.
class Interpreter {
public:
  Interpreter(const estimate::Program& program, const estimate::FusedLoop& loop, std::vector<HostTensor> inputs,
              std::vector<double> scalars, std::uint64_t seed)
      : program(program), loop(loop), scalars(std::move(scalars)), seed(seed) {
    for (const HostTensor& t : inputs) {
      tensors.push_back(t);
      wide = wide || t.dtype == TBEM_F64;
      values.push_back(t.doubles());
      integers.push_back(t.dtype == TBEM_I64 ? t.integers() : std::vector<std::int64_t>());
    }
    for (const auto& o : loop.outputs) wide = wide || program[o.buffer].operand.dtype == TBEM_F64;
  }

  /// Row-major values of every output, converted to its element type.
  std::vector<HostTensor> run() {
    std::vector<std::vector<Scalar>> results(loop.outputs.size());
    std::int64_t count = 1;
    for (std::int64_t d : loop.dims) count *= d;
    std::vector<std::int64_t> at(loop.dims.size());
    for (std::int64_t e = 0; e < count; ++e) {
      std::int64_t rest = e;
      for (std::size_t k = loop.dims.size(); k-- > 0;) {
        at[k] = rest % loop.dims[k];
        rest /= loop.dims[k];
      }
      std::vector<Scalar> nodes;
      for (const ElemNode& n : loop.nodes) nodes.push_back(node(n, nodes, at, e));
      for (std::size_t o = 0; o < results.size(); ++o) results[o].push_back(nodes[loop.outputs[o].node]);
    }
    std::vector<HostTensor> tensorsOut;
    for (std::size_t o = 0; o < results.size(); ++o)
      tensorsOut.push_back(stored(program[loop.outputs[o].buffer].operand.dtype, results[o]));
    return tensorsOut;
  }

private:
  Scalar::Kind floating() const { return wide ? Scalar::F64 : Scalar::F32; }
  static Scalar::Kind kindOf(std::int32_t dtype) {
    if (dtype == TBEM_BF16) return Scalar::F32;
    return dtype == TBEM_F64 ? Scalar::F64 : dtype == TBEM_F32 ? Scalar::F32 : dtype == TBEM_BOOL ? Scalar::Bool : Scalar::Int;
  }

  HostTensor stored(std::int32_t dtype, const std::vector<Scalar>& list) {
    HostTensor t{dtype, loop.dims, {}};
    t.data.resize(list.size() * runtime::elementBytes(dtype));
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Scalar s = convert(list[i], kindOf(dtype));
      std::byte* to = t.data.data() + i * runtime::elementBytes(dtype);
      const float f = static_cast<float>(s.f);
      const auto i32 = static_cast<std::int32_t>(s.i);
      const auto i8 = static_cast<std::int8_t>(s.i);
      if (dtype == TBEM_F64)
        std::memcpy(to, &s.f, 8);
      else if (dtype == TBEM_F32)
        std::memcpy(to, &f, 4);
      else if (dtype == TBEM_I64)
        std::memcpy(to, &s.i, 8);
      else if (dtype == TBEM_I32)
        std::memcpy(to, &i32, 4);
      else if (dtype == TBEM_BOOL)
        *to = std::byte{s.b};
      else if (dtype == TBEM_BF16)
        runtime::fromDoubles(dtype, {&s.f, 1}, to);
      else
        std::memcpy(to, &i8, 1);
    }
    return t;
  }

  /// The kind in which two numbers meet; `both`: neither is a tensor's.
  Scalar::Kind meet(const Scalar& a, const Scalar& b) const {
    if (a.uniform && b.uniform) return a.kind == Scalar::Bool && b.kind == Scalar::Bool ? Scalar::Bool : Scalar::F64;
    if (a.uniform || b.uniform) {
      const Scalar &t = a.uniform ? b : a, &u = a.uniform ? a : b;
      if (t.kind == Scalar::F32 || t.kind == Scalar::F64 || u.kind == Scalar::Bool) return t.kind;
      return u.whole ? Scalar::Int : floating();
    }
    return std::max(a.kind, b.kind);
  }

  Scalar node(const ElemNode& n, const std::vector<Scalar>& done, const std::vector<std::int64_t>& at, std::int64_t element) {
    const Scalar a = n.a < done.size() ? done[n.a] : Scalar{}, b = n.b < done.size() ? done[n.b] : Scalar{},
                 c = n.c < done.size() ? done[n.c] : Scalar{};
    switch (n.op) {
      case ElemOp::Input:
        return read(n.input, at);
      case ElemOp::Constant:
        return makeUniform(n.value.toDouble(), n.value.isInt());
      case ElemOp::Scalar:
        return makeUniform(scalars[n.input], false);
      case ElemOp::Random:
        return makeFloat(floating(),
                         runtime::philoxUniform(runtime::philoxAt(seed, n.stream, static_cast<std::uint32_t>(scalars[0]),
                                                                  static_cast<std::uint64_t>(element))));
      case ElemOp::Index:
        return makeInt(at[n.input]);
      case ElemOp::Equal:
      case ElemOp::Less:
      case ElemOp::LessEqual:
        return compare(n.op, a, b);
      case ElemOp::And:
        return {Scalar::Bool, a.uniform && b.uniform, false, a.truth() && b.truth()};
      case ElemOp::Or:
        return {Scalar::Bool, a.uniform && b.uniform, false, a.truth() || b.truth()};
      case ElemOp::Not:
        return {Scalar::Bool, a.uniform, false, !a.truth()};
      case ElemOp::Select: {
        Scalar::Kind kind = meet(b, c);
        if (b.uniform && c.uniform && !a.uniform && kind != Scalar::Bool) kind = floating();
        Scalar r = convert(a.truth() ? b : c, kind);
        r.uniform = a.uniform && b.uniform && c.uniform;
        return r;
      }
      case ElemOp::Cast: {
        Scalar r = convert(a, kindOf(n.dtype));
        if (n.dtype == TBEM_I8) r.i = static_cast<std::int8_t>(r.i);
        if (n.dtype == TBEM_U8) r.i = static_cast<std::uint8_t>(r.i);
        if (n.dtype == TBEM_I32) r.i = static_cast<std::int32_t>(r.i);
        if (n.dtype == TBEM_BF16) {
          std::uint16_t bits = 0;
          runtime::fromDoubles(TBEM_BF16, {&r.f, 1}, &bits);
          runtime::toDoubles(TBEM_BF16, &bits, {&r.f, 1});
        }
        return r;
      }
      case ElemOp::Add:
      case ElemOp::Sub:
      case ElemOp::Mul:
      case ElemOp::Minimum:
      case ElemOp::Maximum: {
        Scalar::Kind kind = meet(a, b);
        const bool uniform = a.uniform && b.uniform;
        if (kind == Scalar::Bool) kind = uniform ? Scalar::F64 : Scalar::Int;
        Scalar r = kind == Scalar::Int ? makeInt(whole(n.op, convert(a, kind).i, convert(b, kind).i))
                                       : makeFloat(kind, two(n.op, kind, convert(a, kind).f, convert(b, kind).f));
        r.uniform = uniform;
        r.whole = uniform && a.whole && b.whole;
        return r;
      }
      case ElemOp::Div:
      case ElemOp::Pow: {
        Scalar::Kind kind = meet(a, b);
        const bool uniform = a.uniform && b.uniform;
        if (kind == Scalar::Bool || kind == Scalar::Int) kind = uniform ? Scalar::F64 : floating();
        Scalar r = makeFloat(kind, two(n.op, kind, convert(a, kind).f, convert(b, kind).f));
        r.uniform = uniform;
        return r;
      }
      case ElemOp::Neg:
      case ElemOp::Abs:
      case ElemOp::Floor:
        if (!a.uniform && (a.kind == Scalar::Int || a.kind == Scalar::Bool)) {
          const std::int64_t x = convert(a, Scalar::Int).i;
          return makeInt(n.op == ElemOp::Neg ? -x : n.op == ElemOp::Abs ? std::abs(x) : x);
        }
        [[fallthrough]];
      default: {
        const Scalar::Kind kind = a.uniform ? Scalar::F64 : a.kind == Scalar::F32 || a.kind == Scalar::F64 ? a.kind : floating();
        Scalar r = makeFloat(kind, one(n.op, kind, convert(a, kind).f));
        r.uniform = a.uniform;
        r.whole = a.whole && (n.op == ElemOp::Neg || n.op == ElemOp::Abs || n.op == ElemOp::Floor);
        return r;
      }
    }
  }

  static std::int64_t whole(ElemOp op, std::int64_t x, std::int64_t y) {
    const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y);
    switch (op) {
      case ElemOp::Add:
        return static_cast<std::int64_t>(ux + uy);
      case ElemOp::Sub:
        return static_cast<std::int64_t>(ux - uy);
      case ElemOp::Mul:
        return static_cast<std::int64_t>(ux * uy);
      case ElemOp::Minimum:
        return std::min(x, y);
      default:
        return std::max(x, y);
    }
  }
  static double two(ElemOp op, Scalar::Kind kind, double x, double y) {
    // f32 values are exact in double, and double has more than 2 * 24 + 2 bits: rounding twice is rounding once for + - * /.
    switch (op) {
      case ElemOp::Add:
        return x + y;
      case ElemOp::Sub:
        return x - y;
      case ElemOp::Mul:
        return x * y;
      case ElemOp::Div:
        return x / y;
      case ElemOp::Minimum:
        return std::isnan(x) || std::isnan(y) ? std::nan("") : std::min(x, y);
      case ElemOp::Maximum:
        return std::isnan(x) || std::isnan(y) ? std::nan("") : std::max(x, y);
      default:
        return kind == Scalar::F32 ? static_cast<double>(std::pow(static_cast<float>(x), static_cast<float>(y))) : std::pow(x, y);
    }
  }
  static double one(ElemOp op, Scalar::Kind kind, double x) {
    switch (op) {
      case ElemOp::Neg:
        return -x;
      case ElemOp::Abs:
        return std::fabs(x);
      case ElemOp::Floor:
        return std::floor(x);
      case ElemOp::Exp:
        return std::exp(x);
      case ElemOp::Log:
        return std::log(x);
      case ElemOp::Sqrt:
        return std::sqrt(x);
      case ElemOp::Rsqrt:
        return kind == Scalar::F32 ? static_cast<double>(1.0F / std::sqrt(static_cast<float>(x))) : 1.0 / std::sqrt(x);
      case ElemOp::Tanh:
        return std::tanh(x);
      case ElemOp::Erf:
        return std::erf(x);
      case ElemOp::Sin:
        return std::sin(x);
      case ElemOp::Cos:
        return std::cos(x);
      default:
        ADD_FAILURE() << "the interpreter does not know operation " << static_cast<int>(op);
        return 0;
    }
  }
  Scalar compare(ElemOp op, const Scalar& a, const Scalar& b) const {
    const bool uniform = a.uniform && b.uniform;
    Scalar::Kind kind = meet(a, b);
    if (a.uniform && !b.uniform && a.kind == Scalar::Bool) kind = b.kind;
    double x = convert(a, kind).number(), y = convert(b, kind).number();
    Scalar r = makeBool(op == ElemOp::Equal ? x == y : op == ElemOp::Less ? x < y : x <= y);
    r.uniform = uniform;
    return r;
  }
  Scalar read(std::uint32_t input, const std::vector<std::int64_t>& at) {
    const HostTensor& t = tensors[input];
    std::size_t place = 0;
    for (std::size_t j = 0; j < t.dims.size(); ++j) {
      const std::int32_t axis = loop.inputs[input].axes[j];
      const std::int64_t i = axis < 0 || t.dims[j] == 1 ? 0 : at[static_cast<std::size_t>(axis)];
      place = place * static_cast<std::size_t>(t.dims[j]) + static_cast<std::size_t>(i);
    }
    if (t.dtype == TBEM_F32 || t.dtype == TBEM_BF16) return makeFloat(Scalar::F32, values[input][place]);
    if (t.dtype == TBEM_F64) return makeFloat(Scalar::F64, values[input][place]);
    if (t.dtype == TBEM_BOOL) return makeBool(values[input][place] != 0);
    return makeInt(t.dtype == TBEM_I64 ? integers[input][place] : static_cast<std::int64_t>(values[input][place]));
  }

  const estimate::Program& program;
  const estimate::FusedLoop& loop;
  std::vector<HostTensor> tensors;
  std::vector<std::vector<double>> values;
  std::vector<std::vector<std::int64_t>> integers;
  std::vector<double> scalars;
  std::uint64_t seed;
  bool wide = false;
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
                            double tolerance = 0, std::uint64_t seed = 7, std::uint64_t step = 3) {
  auto compiled = jit::compile(program, {.cache = false});
  if (!compiled) {
    ADD_FAILURE() << compiled.error().message;
    return HUGE_VAL;
  }
  auto instance = runtime::Instance::create(compiled->executable, *plainBackend(), {.poison = true, .guard = 4096});
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
    const auto expected = Interpreter(program, loop, operands, scalars, seed).run();
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
      std::memcpy(raw.data(), (*instance)->address(static_cast<std::uint32_t>(id)), raw.size());
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
