// Fused loops at logical coordinates, with the types that numbers of a loop have. Written from the words of Program.h and
// Types.h, not from the compiler's code.
#pragma once

#include "compiler/lower/program/Program.h"
#include "runtime/core/Executable.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Philox.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace tbem::oracle {

using graph::ElemNode;
using graph::ElemOp;
using runtime::HostTensor;

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

/// Evaluates one loop, element by element.
class LoopInterpreter {
public:
  LoopInterpreter(const estimate::Program& program, const estimate::FusedLoop& loop, std::vector<HostTensor> inputs,
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
    if (dtype == TBEM_BF16 || dtype == TBEM_F16) return Scalar::F32;
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
      else if (dtype == TBEM_BF16 || dtype == TBEM_F16)
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
        if (n.dtype == TBEM_BF16 || n.dtype == TBEM_F16) {
          std::uint16_t bits = 0;
          runtime::fromDoubles(n.dtype, {&r.f, 1}, &bits);
          runtime::toDoubles(n.dtype, &bits, {&r.f, 1});
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
        throw std::logic_error("the interpreter does not know operation " + std::to_string(static_cast<int>(op)));
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
    if (t.dtype == TBEM_F32 || t.dtype == TBEM_BF16 || t.dtype == TBEM_F16) return makeFloat(Scalar::F32, values[input][place]);
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

}  // namespace tbem::oracle
