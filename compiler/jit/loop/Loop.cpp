#include "compiler/jit/loop/Loop.h"

#include "compiler/count/Layout.h"
#include "compiler/jit/loop/Bytes.h"
#include "compiler/jit/loop/LoopChecks.h"

#include <algorithm>

namespace tbem::jit {
namespace {

using estimate::Buffer;
using estimate::FusedLoop;
using estimate::Program;
using graph::ElemOp;

constexpr std::int64_t kParallelItems = 64;          // pieces that threads share; many more than threads, for balance
constexpr std::int64_t kSmallestChunk = 4096;        // elements
constexpr std::int64_t kParallelBytes = 128 * 1024;  // below this a fork and join (about 1 us) costs more than it saves

/// One variable before merging: a digit of a dimension.
struct Digit {
  int dim = 0;
  std::int64_t trip = 1;
  std::int64_t weight = 1;  ///< what it counts of the dimension's coordinate
  std::int64_t stride = 0;  ///< in the outputs' layout
};

std::int64_t blockOf(const tbem_layout& layout, int k) {
  std::int64_t product = 1;
  for (int b = 0; b < layout.blocks; ++b) {
    if (layout.block_dim[b] == k) product *= layout.block_size[b];
  }
  return product;
}

/// The digits of dimension k in a layout, from the most to the least significant.
std::vector<Digit> digitsOf(const tbem_layout& layout, int k, std::int64_t padded) {
  std::vector<Digit> digits;
  std::int64_t stride = 1, weight = 1;
  for (int b = layout.blocks - 1; b >= 0; --b) {
    if (layout.block_dim[b] == k && layout.block_size[b] > 1) {
      digits.push_back({k, layout.block_size[b], weight, stride});
      weight *= layout.block_size[b];
    }
    stride *= layout.block_size[b];
  }
  if (padded / weight > 1) digits.push_back({k, padded / weight, weight, layout.strides[k]});
  std::reverse(digits.begin(), digits.end());
  return digits;
}

class Planner {
public:
  Planner(const Program& program, const FusedLoop& loop) : program(program), loop(loop) {}
  tl::expected<LoopNest, std::string> run();

private:
  void refine();
  std::uint32_t pointerOf(const Buffer& buffer);
  std::uint64_t numberAt() const;
  std::uint32_t coordinate(int dim);
  Form formOf(int dim) const;
  LoopOperand operand(const FusedLoop::Input& input);
  bool splitsDigit(const tbem_layout& layout, int operandDim, int dim) const;
  void everyPlace();
  void schedule();
  std::int64_t dimOf(int k) const { return loop.dims[static_cast<std::size_t>(k)]; }
  bool uses(ElemOp op) const {
    return std::any_of(loop.nodes.begin(), loop.nodes.end(), [&](const auto& n) { return n.op == op; });
  }

  const Program& program;
  const FusedLoop& loop;
  LoopNest nest;
  std::vector<Digit> digits;
};

/// Splits digits where an operand's blocks ask for it and the sizes allow it: then that operand is a linear form too.
void Planner::refine() {
  for (const auto& in : loop.inputs) {
    const tbem_operand& b = program[in.buffer].operand;
    for (int j = 0; j < b.rank; ++j) {
      const int k = in.axes[static_cast<std::size_t>(j)];
      if (k < 0 || b.dims[j] == 1) continue;
      for (const Digit& wanted : digitsOf(b.layout, j, b.layout.padded[j])) {
        for (std::size_t d = 0; d < digits.size(); ++d) {
          Digit& digit = digits[d];
          const std::int64_t at = wanted.weight;
          if (digit.dim != k || at <= digit.weight || at >= digit.weight * digit.trip) continue;
          const std::int64_t part = at / digit.weight;
          if (at % digit.weight != 0 || digit.trip % part != 0) break;
          Digit inner = digit;
          inner.trip = part;
          digit.trip /= part;
          digit.weight = at;
          digit.stride *= part;
          digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(d) + 1, inner);
          break;
        }
      }
    }
  }
}

std::uint32_t Planner::pointerOf(const Buffer& buffer) {
  const std::uint64_t offset = program.allocations[buffer.allocation].offset;
  const std::uint64_t move = buffer.window ? buffer.operand.layout.bytes : 0;
  for (std::uint32_t i = 0; i < nest.pointers.size(); ++i) {
    const bool same = nest.pointers[i] == offset && nest.outside[i] == buffer.outside;
    if (same && nest.moves[i] == move && nest.parts[i] == buffer.part) return i;
  }
  nest.pointers.push_back(offset);
  nest.outside.push_back(buffer.outside);
  nest.parts.push_back(buffer.part);
  nest.moves.push_back(move);
  if (move != 0) nest.numberAt = numberAt();
  return static_cast<std::uint32_t>(nest.pointers.size() - 1);
}

std::uint64_t Planner::numberAt() const { return program.allocations[program[program.micro.number].allocation].offset; }

Form Planner::formOf(int dim) const {
  Form form;
  for (const Digit& d : digits) form.stride.push_back(d.dim == dim ? d.weight : 0);
  return form;
}

std::uint32_t Planner::coordinate(int dim) {
  for (std::size_t i = 0; i < nest.coordinates.size(); ++i) {
    if (nest.coordinates[i].dim == static_cast<std::uint32_t>(dim)) return static_cast<std::uint32_t>(i);
  }
  nest.coordinates.push_back({static_cast<std::uint32_t>(dim), dimOf(dim), loop.layout.padded[dim] > dimOf(dim), formOf(dim)});
  return static_cast<std::uint32_t>(nest.coordinates.size() - 1);
}

bool Planner::splitsDigit(const tbem_layout& layout, int operandDim, int dim) const {
  for (const Digit& wanted : digitsOf(layout, operandDim, layout.padded[operandDim])) {
    for (const Digit& d : digits) {
      if (d.dim == dim && wanted.weight > d.weight && wanted.weight < d.weight * d.trip) return true;
      // Not a chain of divisors: a digit begins inside another although neither splits the other.
      if (d.dim == dim && std::max(wanted.weight, d.weight) % std::min(wanted.weight, d.weight) != 0) return true;
    }
  }
  return false;
}

LoopOperand Planner::operand(const FusedLoop::Input& input) {
  const Buffer& buffer = program[input.buffer];
  const tbem_operand& b = buffer.operand;
  LoopOperand result;
  result.pointer = pointerOf(buffer);
  result.dtype = b.dtype;
  result.offset.stride.assign(digits.size(), 0);
  for (int j = 0; j < b.rank; ++j) {
    const int k = input.axes[static_cast<std::size_t>(j)];
    if (k < 0 || b.dims[j] == 1) continue;
    const std::vector<Digit> own = digitsOf(b.layout, j, b.layout.padded[j]);
    if (splitsDigit(b.layout, j, k)) {
      Indirect indirect{coordinate(k), b.layout.strides[j], blockOf(b.layout, j), {}};
      for (const Digit& d : own) {
        if (d.weight < indirect.block) indirect.digits.push_back({d.weight, d.trip, d.stride});
      }
      result.indirect.push_back(std::move(indirect));
      continue;
    }
    for (std::size_t v = 0; v < digits.size(); ++v) {
      if (digits[v].dim != k) continue;
      // The operand's own digit in which this one counts: the most significant of those whose weight divides into it.
      for (const Digit& d : own) {
        if (d.weight <= digits[v].weight) {
          result.offset.stride[v] += digits[v].weight / d.weight * d.stride;
          break;
        }
      }
    }
  }
  return result;
}

/// Whether vectors of so many places along the innermost variable lie at multiples of their size in every operand.
bool takesVectors(const LoopNest& nest, std::int64_t width) {
  const std::size_t inner = nest.trips.size() - 1;
  const auto isAligned = [&](const Form& form, std::uint32_t pointer, std::int32_t dtype) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(width) * estimate::elementBytes(dtype);
    return nest.pointers[pointer] % bytes == 0 && nest.moves[pointer] % bytes == 0 && !nest.outside[pointer] &&
           std::all_of(form.stride.begin(), form.stride.end() - 1, [&](std::int64_t stride) { return stride % width == 0; });
  };
  if (nest.trips[inner] % width != 0 || nest.output.stride[inner] != 1) return false;
  for (const LoopOutput& output : nest.outputs)
    if (!isAligned(nest.output, output.pointer, output.dtype) || (output.rows && inner == 0)) return false;
  for (const LoopOperand& input : nest.inputs) {
    const std::int64_t stride = input.offset.stride[inner];
    if (!input.indirect.empty() || stride < 0 || stride > 1) return false;
    if (stride == 1 && !isAligned(input.offset, input.pointer, input.dtype)) return false;
  }
  return std::none_of(nest.coordinates.begin(), nest.coordinates.end(), [](const Coordinate& c) { return c.padded; });
}

/// Places that a thread of a device takes together: 16 bytes of the widest operand that varies along them, the most that a thread
/// reads or writes at once, so that fewer threads have as many bytes on their way; fewer where not all can be read so.
std::int64_t widthOf(const LoopNest& nest) {
  constexpr std::uint64_t kBytes = 16;
  constexpr std::int64_t kMost = 8;
  std::uint64_t widest = 1;
  for (const LoopOutput& output : nest.outputs) widest = std::max<std::uint64_t>(widest, estimate::elementBytes(output.dtype));
  for (const LoopOperand& input : nest.inputs)
    if (input.offset.stride.back() == 1) widest = std::max<std::uint64_t>(widest, estimate::elementBytes(input.dtype));
  std::int64_t width = std::min(kMost, static_cast<std::int64_t>(kBytes / widest));
  while (width > 1 && !takesVectors(nest, width)) width /= 2;
  return width;
}

/// On a device each vector of places is an item of its own, and the innermost variable is that of neighbouring threads.
void Planner::everyPlace() {
  for (const std::int64_t trips : nest.trips) nest.count *= trips;
  if (nest.count != 0) nest.width = widthOf(nest);
  if (loop.perSample && nest.count / std::max<std::int64_t>(loop.samples, 1) % nest.width != 0) nest.width = 1;
  nest.count /= nest.width;
  nest.prefix = static_cast<std::uint32_t>(nest.trips.size());
  nest.parallel = nest.count > 1;
  if (loop.perSample && nest.count != 0) nest.perSample.unit = nest.count / loop.samples;
}

void Planner::schedule() {
  if (!program.target.empty()) return everyPlace();
  const std::size_t inner = nest.trips.size() - 1;
  std::int64_t total = 1, bytes = 0;
  for (std::int64_t t : nest.trips) total *= t;
  for (; nest.prefix < inner && nest.count < kParallelItems; ++nest.prefix) nest.count *= nest.trips[nest.prefix];
  const std::int64_t length = nest.trips[inner];
  if (nest.prefix == inner && nest.count < kParallelItems && length >= 2 * kSmallestChunk) {
    const std::int64_t wanted = std::max(kSmallestChunk, (nest.count * length + kParallelItems - 1) / kParallelItems);
    nest.chunk = (wanted + 63) / 64 * 64;
    nest.chunks = (length + nest.chunk - 1) / nest.chunk;
    nest.count *= nest.chunks;
  }
  const auto width = [](std::int32_t dtype) { return static_cast<std::int64_t>(estimate::elementBytes(dtype)); };
  for (const auto& i : nest.inputs) bytes += width(i.dtype);
  for (const auto& o : nest.outputs) bytes += width(o.dtype);
  for (const auto& n : nest.nodes) {
    const bool heavy = n.op == ElemOp::Exp || n.op == ElemOp::Log || n.op == ElemOp::Pow || n.op == ElemOp::Tanh ||
                       n.op == ElemOp::Erf || n.op == ElemOp::Sin || n.op == ElemOp::Cos || n.op == ElemOp::Random;
    if (heavy) bytes += 24;  // about the time of as many bytes
  }
  nest.parallel = nest.count > 1 && total * bytes >= kParallelBytes;
  if (total == 0) nest.count = 0;  // nothing to do, and no code
  if (loop.perSample && nest.count != 0) {
    const bool split = nest.prefix == 0;  // the samples themselves are the innermost variable
    const std::int64_t items = split ? nest.trips[0] : nest.count;
    nest.perSample.unit = items / loop.samples;
    nest.perSample.chunk = !split ? 1 : nest.chunks > 1 ? nest.chunk : nest.trips[0];
    nest.perSample.threadsFrom = (kParallelBytes * loop.samples + total * bytes - 1) / std::max<std::int64_t>(total * bytes, 1);
  }
}

tl::expected<LoopNest, std::string> Planner::run() {
  if (auto ok = checkLoop(program, loop); !ok) return tl::make_unexpected(ok.error());
  const int rank = static_cast<int>(loop.dims.size());
  for (int k = 0; k < rank; ++k) {
    if (loop.layout.padded[k] == 0) {
      digits.push_back({k, 0, 1, 1});
      continue;
    }
    for (const Digit& d : digitsOf(loop.layout, k, loop.layout.padded[k])) digits.push_back(d);
  }
  std::stable_sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.stride > b.stride; });
  refine();
  if (digits.empty()) digits.push_back({-1, 1, 1, 1});
  for (const Digit& d : digits) {
    nest.trips.push_back(d.trip);
    nest.output.stride.push_back(d.stride);
  }
  std::vector<std::int64_t> rowMajor(static_cast<std::size_t>(rank), 1);
  for (int k = rank - 2; k >= 0; --k)
    rowMajor[static_cast<std::size_t>(k)] = rowMajor[static_cast<std::size_t>(k) + 1] * dimOf(k + 1);
  const bool random = uses(ElemOp::Random);
  if (random && program.micro.parts > 1) {
    nest.numberAt = numberAt();
    nest.elements = 1;
    for (int k = 0; k < rank; ++k) nest.elements *= dimOf(k);
  }
  for (const Digit& d : digits)
    nest.number.stride.push_back(random && d.dim >= 0 ? d.weight * rowMajor[static_cast<std::size_t>(d.dim)] : 0);
  for (int k = 0; k < rank; ++k) {
    if (loop.layout.padded[k] > dimOf(k)) coordinate(k);
  }
  for (const auto& node : loop.nodes) {
    if (node.op == ElemOp::Index) coordinate(static_cast<int>(node.input));
  }
  for (const auto& input : loop.inputs) nest.inputs.push_back(operand(input));
  for (const auto& output : loop.outputs) {
    const Buffer& b = program[output.buffer];
    nest.outputs.push_back({pointerOf(b), b.operand.dtype, output.node, {}});
    if (output.rows != estimate::kNoBuffer) nest.outputs.back().rows = pointerOf(program[output.rows]);
  }
  nest.nodes = loop.nodes;
  mergeVariables(nest, loop.perSample);
  schedule();
  return nest;
}

}  // namespace

tl::expected<LoopNest, std::string> planLoop(const Program& program, const FusedLoop& loop) {
  return Planner(program, loop).run();
}

void mergeVariables(LoopNest& nest, bool exceptFirst) {
  const auto eachForm = [&](auto f) {
    f(nest.output);
    f(nest.number);
    for (Coordinate& coordinate : nest.coordinates) f(coordinate.form);
    for (LoopOperand& input : nest.inputs) f(input.offset);
  };
  for (std::size_t v = nest.trips.size(); v-- > (exceptFirst ? 2 : 1);) {
    bool fits = true;
    eachForm([&](const Form& f) { fits = fits && f.stride[v - 1] == f.stride[v] * nest.trips[v]; });
    if (!fits) continue;
    nest.trips[v - 1] *= nest.trips[v];
    nest.trips.erase(nest.trips.begin() + static_cast<std::ptrdiff_t>(v));
    eachForm([&](Form& f) { f.stride.erase(f.stride.begin() + static_cast<std::ptrdiff_t>(v) - 1); });
  }
}

std::string kernelKey(const LoopNest& nest) {
  Bytes bytes;
  auto form = [&](const Form& f) { bytes.list(f.stride); };
  bytes.number(nest.trips.size());
  // A kernel that goes through one variable alone is told how far: an optimiser's update is one for weights of all sizes.
  if (!nest.isOneRow()) bytes.list(nest.trips);
  form(nest.output);
  form(nest.number);
  bytes.number(nest.coordinates.size());
  for (const auto& c : nest.coordinates) {
    bytes.number(c.dim);
    bytes.number(c.limit);
    bytes.number(c.padded);
    form(c.form);
  }
  bytes.number(nest.inputs.size());
  for (const auto& i : nest.inputs) {
    bytes.number(i.pointer);
    bytes.number(i.dtype);
    form(i.offset);
    bytes.number(i.indirect.size());
    for (const auto& x : i.indirect) {
      bytes.number(x.coordinate);
      bytes.number(x.outerStride);
      bytes.number(x.block);
      bytes.number(x.digits.size());
      for (const auto& d : x.digits) {
        bytes.number(d.divisor);
        bytes.number(d.size);
        bytes.number(d.stride);
      }
    }
  }
  bytes.number(nest.outputs.size());
  for (const auto& o : nest.outputs) {
    bytes.number(o.pointer);
    bytes.number(o.dtype);
    bytes.number(o.node);
    bytes.number(o.rows ? *o.rows + 1 : 0);
  }
  bytes.nodes(nest.nodes);
  bytes.list(nest.given);
  bytes.number(nest.pointers.size());
  bytes.number(nest.elements != 0);
  bytes.number(nest.prefix);
  bytes.number(nest.width);
  bytes.number(nest.chunk);
  bytes.number(nest.chunks);
  return bytes.text;
}

}  // namespace tbem::jit
