// A network at inference for one sample, as steps on numbers, whose bounds are what the rest of this folder computes. Internal to
// this folder.
//
// Made from a graph (Lowering.h). Every step has one value, whose number is the step's. Element-wise expressions are one step a
// node; reads that broadcast, views, and whatever only moves elements are one kind of step; a pooling by maxima is maxima of two,
// one behind the other. What depends on no input is a constant, computed when the steps are made.
#pragma once

#include "compiler/certify/Rounding.h"
#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::certify {

using ValueId = std::uint32_t;
constexpr std::uint32_t kHole = 0xFFFFFFFFU;

/// Elements of images, [1, c, h, w], are kept with their channels last, so that a part of an image has few runs of them; all
/// other tensors are kept in row-major order, as one image with a pixel for each of their rows.
struct Shape {
  std::vector<std::int64_t> dims;
  std::int64_t channels = 1, height = 1, width = 1;

  static Shape of(std::vector<std::int64_t> dims);
  std::size_t count() const { return static_cast<std::size_t>(channels * height * width); }
  bool isImage() const { return dims.size() == 4 && dims[0] == 1; }
  /// Where the element is kept that is the i-th in row-major order.
  std::size_t place(std::size_t i) const;
};

/// Elements' intervals.
struct Box {
  std::vector<double> low, high;

  Box() = default;
  explicit Box(std::size_t count) : low(count, -kInfinity), high(count, kInfinity) {}
  std::size_t size() const { return low.size(); }
  Interval at(std::size_t i) const { return {low[i], high[i]}; }
  void set(std::size_t i, Interval value) {
    low[i] = value.low;
    high[i] = value.high;
  }
};

/// Rows h0 to h1 and columns w0 to w1 of an image, ends excluded.
struct Window {
  std::int64_t h0 = 0, h1 = 0, w0 = 0, w1 = 0;
  bool isEmpty() const { return h0 >= h1 || w0 >= w1; }
  void include(const Window& other);
};

/// Convolution by known weights; a dense layer is one of 1 x 1 pixels. Images and weights with channels last.
struct Convolution {
  std::int64_t c = 1, h = 1, w = 1, o = 1, oh = 1, ow = 1, kh = 1, kw = 1, strideH = 1, strideW = 1, top = 0, left = 0,
               dilationH = 1, dilationW = 1, groups = 1;
  std::vector<double> weights;     ///< [kh][kw][group][input][output]
  std::vector<double> transposed;  ///< [kh][kw][group][output][input]
  std::vector<double> bias;        ///< empty: none
  std::int64_t inputs() const { return c / groups; }
  std::int64_t outputs() const { return o / groups; }
  std::int64_t products() const { return inputs() * kh * kw; }
  std::int64_t uses() const { return outputs() * kh * kw; }  ///< products that an element of x is in, at most
};

enum class StepKind : std::uint8_t {
  Input,        ///< the example
  Constant,     ///< `constant`
  Gather,       ///< y[i] = element index[i] of the inputs one behind the other; 0 for kHole
  Convolve,     ///< `convolution`
  Sums,         ///< y[i] = scale[i] * the sum of x[index[k]] for k from offsets[i] to offsets[i + 1]
  Affine,       ///< y[i] = scale[i] * x[i] + shift[i], as the operations of `chain` compute it
  Add,          ///< of two
  Subtract,     ///< of two
  Negate,       ///< of one
  Multiply,     ///< of two
  Maximum,      ///< of two
  Minimum,      ///< of two
  Function,     ///< `function` of one
  Reciprocal,   ///< of one, exact: what divides multiplies by it, and is rounded once
  Softmax,      ///< over all elements of its input
  Confidence,   ///< the largest element of that
  Less,         ///< of two; 1 or 0
  LessEqual,    ///< of two
  Equal,        ///< of two
  And,          ///< of two
  Or,           ///< of two
  Not,          ///< of one
  Select,       ///< the second where the first is true, else the third
  Join,         ///< a skip's arms: the first input where its condition is false, else the second
  Unsupported,  ///< nothing is known of it: `name`
};

/// An Add, Subtract or Multiply of what comes before it in a chain and a constant, whose last places may not be known.
struct Link {
  StepKind kind{};
  bool constantFirst = false;  ///< the constant is the first operand
  Box constant;
};

struct Step {
  StepKind kind{};
  std::vector<ValueId> inputs;
  Shape shape;
  std::uint32_t branch = 0;    ///< of graph::Branches: in which it is computed
  bool needed = false;         ///< a gate's condition depends on it
  std::uint32_t lastGate = 0;  ///< the last one of those, by Steps::gates
  Box constant;
  std::vector<std::uint32_t> index, offsets;
  std::vector<double> scale, shift;
  std::vector<Link> chain;
  Convolution convolution;
  graph::ElemOp function{};
  std::uint32_t gate = 0;  ///< Join: position in Steps::gates
  std::string name;        ///< Unsupported: the operator's, in the language
};

struct Gate {
  std::string path;
  bool exits = false;
  ValueId condition = 0;
  std::size_t before = 0;  ///< so many steps come before it
  std::uint32_t branch = 0, whereFalse = 0, whereTrue = 0;
  bool matters = true;    ///< its two sides may differ in cost
  std::int64_t rows = 1;  ///< that it decides about: the sample, or the places of its image
  /// Where it stands in the arm of one that decides about the same places: that gate, and on which side of its condition.
  std::optional<std::size_t> outer;
  bool outerSide = false;
};

struct Steps {
  std::vector<Step> list;
  std::vector<Gate> gates;  ///< in program order
  ValueId input = 0;
  Arithmetic arithmetic;
  double fanOut = 1;                   ///< how many steps read a value, at most
  std::vector<std::uint32_t> parents;  ///< of branches, by branch
  std::vector<double> flops;           ///< by branch, of one of the rows that are its samples

  /// What a sample costs at most, or at least: by what is known of the gates' decisions (by gate and row, as Bound::rows; empty:
  /// nothing is), and by the dearer or the cheaper side otherwise.
  double cost(std::span<const std::vector<std::int8_t>> decisions, bool dearest) const {
    return costOf({0, 1, 0}, decisions, dearest);
  }
  /// The same of what a gate's side costs each row that it decides about.
  double costOfSide(std::size_t gate, bool side, bool dearest) const;

  const Step& operator[](ValueId id) const { return list[id]; }
  bool isConstant(ValueId id) const { return list[id].kind == StepKind::Constant; }

private:
  /// A row of so many, all of which cost the same in this branch itself.
  struct Place {
    std::uint32_t branch = 0;
    std::int64_t rows = 1;
    std::size_t row = 0;
  };
  double costOf(const Place& place, std::span<const std::vector<std::int8_t>> decisions, bool dearest) const;
};

}  // namespace tbem::certify
