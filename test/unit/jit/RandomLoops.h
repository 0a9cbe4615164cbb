// Random fused loops: shapes, layouts, broadcasting, types, expressions, in-place results.
#pragma once

#include "test/unit/jit/Build.h"

#include <random>

namespace tbem::testing {

/// A program of one loop, what its inputs hold, and what it is run with.
struct RandomLoop {
  estimate::Program program;
  std::map<std::uint32_t, HostTensor> inputs;
  std::uint64_t seed = 0, step = 0;
};

class LoopGenerator {
public:
  explicit LoopGenerator(unsigned seed) : random(seed) {}

  RandomLoop run() {
    const int rank = pick(0, 5);
    std::vector<std::int64_t> dims;
    for (int k = 0; k < rank; ++k) dims.push_back(pick(1, k == 1 ? 40 : 9));
    const char* names[] = {"plain", "nhwc", "c16", "c8", "o16i16"};
    const std::string layout = names[pick(0, 4)];
    const std::int32_t types[] = {TBEM_F32, TBEM_BF16, TBEM_F16, TBEM_F64, TBEM_I64, TBEM_I32, TBEM_I8, TBEM_U8, TBEM_BOOL};
    program.program.scalars = {0, 0.3, -1.75};
    std::vector<BufferId> full;
    for (int i = pick(1, 4); i > 0; --i) {
      const std::int32_t type = types[pick(0, 8)];
      const bool whole = pick(0, 1) == 0;
      std::vector<std::int64_t> own;
      std::vector<std::int32_t> axes;
      for (int k = 0; k < rank; ++k) {
        const int how = whole ? 0 : pick(0, 3);
        if (how == 3) continue;  // not a dimension of the operand
        own.push_back(how == 2 ? 1 : dims[static_cast<std::size_t>(k)]);
        axes.push_back(how == 2 && pick(0, 1) == 0 ? -1 : k);
      }
      if (!whole && pick(0, 3) == 0 && own.size() > 1) {  // transposed
        std::swap(own.front(), own.back());
        std::swap(axes.front(), axes.back());
      }
      const tbem_operand operand = layoutOf(type, own, whole && pick(0, 3) != 0 ? layout : whole ? names[pick(0, 4)] : "plain");
      const BufferId b = program.add(operand);
      inputs[static_cast<std::uint32_t>(b)] = randomTensor(operand, static_cast<std::uint64_t>(pick(0, 1000000)));
      nodes.push_back(loop.input(b, axes));
      if (whole && runtime::sameLayout(operand, layoutOf(type, dims, layout))) full.push_back(b);
    }
    nodes.push_back(loop.constant(pick(-3, 3)));
    nodes.push_back(loop.constant(pick(-9, 9), 4));
    nodes.push_back(loop.scalar(static_cast<std::uint32_t>(pick(1, 2))));
    if (pick(0, 2) == 0)
      nodes.push_back(loop.push({.op = ElemOp::Random, .stream = static_cast<std::uint64_t>(pick(1, 1000000)) << 20U}));
    if (rank > 0 && pick(0, 2) == 0)
      nodes.push_back(loop.push({.op = ElemOp::Index, .input = static_cast<std::uint32_t>(pick(0, rank - 1))}));
    for (int i = pick(1, 12); i > 0; --i) grow();
    for (int i = pick(1, 3); i > 0; --i) {
      const std::int32_t type = types[pick(0, 8)];
      const tbem_operand operand = layoutOf(type, dims, layout);
      const std::uint32_t node =
          nodes[static_cast<std::size_t>(pick(static_cast<int>(nodes.size()) / 2, static_cast<int>(nodes.size()) - 1))];
      // In place of an input of equal size and layout, at most once each.
      BufferId out{};
      auto place = std::find_if(full.begin(), full.end(), [&](BufferId b) {
        return runtime::elementBytes(program.program[b].operand.dtype) == runtime::elementBytes(type);
      });
      if (place != full.end() && pick(0, 1) == 0) {
        out = program.over(program.program[*place].allocation, operand, "in place");
        full.erase(place);
      } else {
        out = program.add(operand);
      }
      loop.output(out, node);
    }
    program.add(loop);
    const auto seed = static_cast<std::uint64_t>(pick(0, 1000000)), step = static_cast<std::uint64_t>(pick(1, 100));
    return {std::move(program.program), std::move(inputs), seed, step};
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
  void grow() {
    // Operations whose result is one rounding of the exact one, or exact: equality is asked for.
    static constexpr ElemOp ops[] = {ElemOp::Add, ElemOp::Sub, ElemOp::Mul,   ElemOp::Div,    ElemOp::Minimum, ElemOp::Maximum,
                                     ElemOp::Neg, ElemOp::Abs, ElemOp::Floor, ElemOp::Equal,  ElemOp::Less,    ElemOp::LessEqual,
                                     ElemOp::And, ElemOp::Or,  ElemOp::Not,   ElemOp::Select, ElemOp::Cast,    ElemOp::Sqrt};
    const auto any = [&] { return nodes[static_cast<std::size_t>(pick(0, static_cast<int>(nodes.size()) - 1))]; };
    ElemNode n{.op = ops[pick(0, 17)], .a = any(), .b = any(), .c = any()};
    const std::int32_t types[] = {TBEM_F32, TBEM_F64, TBEM_BF16, TBEM_F16, TBEM_I64, TBEM_I32, TBEM_I8, TBEM_U8, TBEM_BOOL};
    if (n.op == ElemOp::Cast) n.dtype = types[pick(0, 8)];
    nodes.push_back(loop.push(n));
  }

  std::mt19937 random;
  ProgramBuilder program;
  LoopBuilder loop;
  std::vector<std::uint32_t> nodes;
  std::map<std::uint32_t, HostTensor> inputs;
};

}  // namespace tbem::testing
