#include "runtime/cudnn/Attention.h"

#include "runtime/cudnn/Question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

namespace tbem::cudnn {

std::string describe(const Attention& problem) {
  std::string line = fmt::format("attention{} {} {}x{} {}x{} {}x{}x{}{}", problem.gradient ? "_gradient" : "",
                                 problem.dtype == TBEM_F16 ? "f16" : "bf16", problem.batch, problem.heads, problem.l, problem.d,
                                 problem.m, problem.d, problem.e, problem.causal ? " causal" : "");
  for (const auto& [batch, head, row] : problem.strides) line += fmt::format(" {}/{}/{}", batch, head, row);
  return line;
}

namespace {

using Four = std::array<std::int64_t, 4>;

Four rowMajor(const Four& dims) { return {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1}; }
/// The last two dimensions exchanged.
Four turned(const Four& of) { return {of[0], of[1], of[3], of[2]}; }

/// A tensor of the graph, an operand of the problem or what is between two operations.
struct Value {
  const Descriptor* tensor;  ///< the Writer's
  Four dims;
};

/// Writes the operations one after the other. cuDNN has engines for two graphs, which are recognised by their operations and the
/// order of these: the ones that its own frontend writes for attention and its gradient. Another way to write the same is
/// answered by no engine, or by one that keeps the matrices of scores in its workspace.
class Writer {
public:
  Writer(const Question& question, const Attention& a) : question(question), a(a) {}

  Descriptor graph() {
    a.gradient ? backward() : forward();
    return question.graphOf(operations);
  }

private:
  int narrow() const { return a.dtype == TBEM_F16 ? api::kF16 : api::kBf16; }
  Four scores() const { return {a.batch, a.heads, a.l, a.m}; }
  Four rows() const { return {a.batch, a.heads, a.l, 1}; }
  Four of(std::int64_t height, std::int64_t width) const { return {a.batch, a.heads, height, width}; }

  /// Of an operand of the narrow type.
  Four stridesOf(std::int64_t id, const Four& dims) const {
    if (a.strides.empty()) return rowMajor(dims);
    const std::vector<std::int64_t> ids = tensorsOf(a);
    const auto& [batch, head, row] = a.strides[static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin())];
    return {batch, head, row, 1};
  }
  /// An operand, or its transpose.
  Value given(std::int64_t id, const Four& dims) {
    return add(question.openTensor(id, dims, stridesOf(id, dims), narrow()), dims);
  }
  Value transposed(std::int64_t id, const Four& dims) {
    return add(question.openTensor(id, turned(dims), turned(stridesOf(id, dims)), narrow()), turned(dims));
  }
  Value logSums() { return add(question.openTensor(kLogSums, rows(), rowMajor(rows()), api::kF32), rows()); }
  Value constant(std::int64_t id) {
    constexpr Four kSingle{1, 1, 1, 1};
    Descriptor t = question.openTensor(id, kSingle, rowMajor(kSingle), api::kF32);
    t.set(api::kTensorIsByValue, api::kBoolean, true);
    return add(std::move(t), kSingle);
  }
  Value between(const Four& dims, int type = api::kF32) { return between(dims, rowMajor(dims), type); }
  Value between(const Four& dims, const Four& strides, int type) {
    Descriptor t = question.openTensor(nextBetween++, dims, strides, type);
    t.set(api::kTensorIsVirtual, api::kBoolean, true);
    return add(std::move(t), dims);
  }
  /// Descriptors stay until the graph is finished.
  Value add(Descriptor tensor, const Four& dims) {
    tensor.finish("a tensor");
    return {&tensors.emplace_back(std::move(tensor)), dims};
  }

  void add(Descriptor operation) {
    operation.finish("an operation");
    operations.push_back(std::move(operation));
  }
  Value product(const Value& left, const Value& right, Value result) {
    Descriptor matmul = question.make(api::kMatmul);
    matmul.set(api::kMatmulComputeType, api::kDataType, +api::kF32);
    matmul.finish("a product");
    Descriptor operation = question.make(api::kMatmulOperation);
    operation.set(api::kMatmulOf, matmul);
    operation.set(api::kMatmulA, *left.tensor);
    operation.set(api::kMatmulB, *right.tensor);
    operation.set(api::kMatmulC, *result.tensor);
    add(std::move(operation));
    return result;
  }
  Value reduce(api::Reduce kind, const Value& x) {
    Descriptor reduction = question.make(api::kReduction);
    reduction.set(api::kReductionOperator, api::kReductionKind, +kind);
    reduction.set(api::kReductionComputeType, api::kDataType, +api::kF32);
    reduction.finish("a reduction");
    Value result = between(rows());
    Descriptor operation = question.make(api::kReductionOperation);
    operation.set(api::kReductionOf, reduction);
    operation.set(api::kReductionX, *x.tensor);
    operation.set(api::kReductionY, *result.tensor);
    add(std::move(operation));
    return result;
  }
  /// A pointwise operation beside its tensors.
  struct Pointwise {
    api::Mode mode;
    int computed = api::kF32;
    std::int64_t axis = -1;  ///< of kGenerateIndex
  };
  Value pointwise(const Pointwise& of, const Value& x, const Value* b, Value result, const Value* condition = nullptr) {
    Descriptor kind = question.make(api::kPointwise);
    kind.set(api::kPointwiseMode, api::kPointwiseKind, +of.mode);
    kind.set(api::kPointwiseComputeType, api::kDataType, of.computed);
    if (of.axis >= 0) kind.set(api::kPointwiseAxis, api::kInt64, of.axis);
    kind.finish("a pointwise operation");
    Descriptor operation = question.make(api::kPointwiseOperation);
    operation.set(api::kPointwiseOf, kind);
    operation.set(api::kPointwiseX, *x.tensor);
    if (b != nullptr) operation.set(api::kPointwiseB, *b->tensor);
    if (condition != nullptr) operation.set(api::kPointwiseT, *condition->tensor);
    operation.set(api::kPointwiseY, *result.tensor);
    add(std::move(operation));
    return result;
  }
  Value binary(api::Mode mode, const Value& x, const Value& b) { return pointwise({mode}, x, &b, between(x.dims)); }
  /// The last two dimensions exchanged, in the narrow type, which a product reads.
  Value turn(const Value& x) {
    Value result = between(turned(x.dims), turned(rowMajor(x.dims)), narrow());
    reshape(x, result);
    return result;
  }
  void reshape(const Value& x, const Value& result) {
    Descriptor operation = question.make(api::kReshapeOperation);
    operation.set(api::kReshapeX, *x.tensor);
    operation.set(api::kReshapeY, *result.tensor);
    add(std::move(operation));
  }

  /// Scores behind the diagonal become kHidden.
  Value masked(const Value& x) {
    if (!a.causal) return x;
    constexpr std::int64_t kRow = 2, kColumn = 3;
    const Value row = pointwise({api::kGenerateIndex, api::kI32, kRow}, x, nullptr, between(scores(), api::kI32));
    const Value column = pointwise({api::kGenerateIndex, api::kI32, kColumn}, x, nullptr, between(scores(), api::kI32));
    const Value seen = pointwise({api::kGreaterOrEqual, api::kBool}, row, &column, between(scores(), api::kBool));
    const Value hidden = constant(kHidden);
    return pointwise({api::kSelect}, x, &hidden, between(scores()), &seen);
  }

  void forward() {
    const Value scale = constant(kScale);
    const Value value = given(kValue, of(a.m, a.e));
    const Value products = product(given(kQuery, of(a.l, a.d)), transposed(kKey, of(a.m, a.d)), between(scores()));
    const Value x = masked(binary(api::kMultiply, products, scale));
    const Value largest = reduce(api::kMaximum, x);
    const Value shifted = binary(api::kSubtract, x, largest);
    const Value exponentials = pointwise({api::kExponential}, shifted, nullptr, between(scores()));
    const Value sums = reduce(api::kSum, exponentials);
    const Value logarithms = pointwise({api::kLogarithm}, sums, nullptr, between(rows()));
    pointwise({api::kAdd}, largest, &logarithms, logSums());
    const Value weights = pointwise({api::kDivide}, exponentials, &sums, between(scores(), narrow()));
    product(weights, value, given(kAttended, of(a.l, a.e)));
  }

  /// Dao et al. 2022 (arXiv 2205.14135), appendix B.4. dquery is a product of its own, and not summed up from pieces in an order
  /// that changes; so engines keep the gradients of the scores in their workspace.
  void backward() {
    const Value scale = constant(kScale), one = constant(kOne);
    const Value query = given(kQuery, of(a.l, a.d)), dy = given(kDy, of(a.l, a.e));
    const Value key = transposed(kKey, of(a.m, a.d));
    const Value both = binary(api::kMultiply, dy, given(kAttended, of(a.l, a.e)));
    const Value sums = binary(api::kMultiply, reduce(api::kSum, both), one);
    const Value products = product(query, key, between(scores()));
    const Value x = binary(api::kSubtract, binary(api::kMultiply, products, scale), logSums());
    const Value weights = pointwise({api::kExponential}, masked(x), nullptr, between(scores()));
    product(turn(weights), dy, given(kDvalue, of(a.m, a.e)));
    const Value dweights = product(dy, transposed(kValue, of(a.m, a.e)), between(scores()));
    const Value dscaled = binary(api::kMultiply, binary(api::kSubtract, dweights, sums), weights);
    const Value dscores = binary(api::kMultiply, dscaled, scale);
    product(turn(dscores), query, given(kDkey, of(a.m, a.d)));
    const Four ofKey = of(a.m, a.d);
    const Value rowsOfKey = between(ofKey, stridesOf(kKey, ofKey), narrow());  // a reshape keeps the order in memory
    reshape(key, rowsOfKey);
    product(dscores, rowsOfKey, given(kDquery, of(a.l, a.d)));
  }

  const Question& question;
  const Attention& a;
  std::deque<Descriptor> tensors;  ///< addresses stay
  std::vector<Descriptor> operations;
  std::int64_t nextBetween = kBetween;
};

}  // namespace

Descriptor graphOf(const Question& question, const Attention& problem) { return Writer(question, problem).graph(); }

std::vector<std::int64_t> tensorsOf(const Attention& problem) {
  if (problem.gradient) return {kDy, kQuery, kKey, kValue, kAttended, kLogSums, kDquery, kDkey, kDvalue};
  return {kQuery, kKey, kValue, kAttended, kLogSums};
}

std::vector<Constant> constantsOf(const Attention& problem) {
  constexpr float kBehind = -1e16F;  // as the standard library has it (scale_causal)
  std::vector<Constant> constants{{kScale, static_cast<float>(1 / std::sqrt(static_cast<double>(problem.d)))}};
  if (problem.gradient) constants.push_back({kOne, 1});
  if (problem.causal) constants.push_back({kHidden, kBehind});
  return constants;
}

}  // namespace tbem::cudnn
