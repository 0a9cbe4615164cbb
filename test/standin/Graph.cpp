#include "test/standin/Graph.h"

#include "test/standin/Run.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace tbem::standin {

namespace {

// Kinds of descriptors, types of elements and modes that are looked at.
enum : int { kPointwise = 13, kProduct = 19, kReduction = 22, kReshape = 31 };
enum : int { kF32 = 0, kF16 = 2, kI32 = 4, kBf16 = 9, kBool = 11 };
constexpr std::int64_t kGap = 16;  // bytes: values begin at multiples of it

std::optional<Step> stepOf(int mode) {
  switch (mode) {
    case 0:
      return Step::Add;
    case 1:
      return Step::Multiply;
    case 6:
      return Step::Divide;
    case 9:
      return Step::Subtract;
    case 13:
      return Step::Exponential;
    case 15:
      return Step::Logarithm;
    case 303:
      return Step::NotLess;
    case 501:
      return Step::Index;
    case 601:
      return Step::Select;
    default:
      return std::nullopt;
  }
}

/// How many operands a pointwise step reads.
int operandsOf(Step step) {
  if (step == Step::Select) return 3;
  return step == Step::Exponential || step == Step::Logarithm || step == Step::Index ? 1 : 2;
}

/// A tensor of the graph, without memory.
struct Described {
  Tensor tensor{};
  std::int64_t id = 0;
  bool between = false, constant = false;

  std::int64_t count() const { return tensor.dims[0] * tensor.dims[1] * tensor.dims[2] * tensor.dims[3]; }
  std::int64_t bytes() const {
    const std::int64_t each = tensor.type == Type::F32 ? 4 : 2;
    return (count() * each + kGap - 1) / kGap * kGap;
  }
};

/// Nothing where it is not of four dimensions that lie without gaps.
std::optional<Described> described(const Descriptor* descriptor) {
  if (descriptor == nullptr) return std::nullopt;
  const auto dims = descriptor->list<std::int64_t>(902), strides = descriptor->list<std::int64_t>(903);
  if (dims.size() != 4 || strides.size() != 4) return std::nullopt;
  Described it;
  std::copy(dims.begin(), dims.end(), it.tensor.dims);
  std::copy(strides.begin(), strides.end(), it.tensor.strides);
  it.id = descriptor->one<std::int64_t>(906);
  it.between = descriptor->one<std::uint8_t>(907) != 0;
  it.constant = descriptor->one<std::uint8_t>(908) != 0;
  const int type = descriptor->one<int>(901);
  const bool isFlag = (type == kI32 || type == kBool) && it.between;
  if (type != kF32 && type != kF16 && type != kBf16 && !isFlag) return std::nullopt;
  it.tensor.type = type == kF16 ? Type::F16 : type == kBf16 ? Type::Bf16 : Type::F32;
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) last += (dims[axis] - 1) * strides[axis];
  return last + 1 == it.count() ? std::optional(it) : std::nullopt;
}

struct Operation {
  Step step{};
  int axis = 0;
  std::vector<Described> inputs;
  Described y;
};

std::optional<Operation> operationOf(const Descriptor& descriptor) {
  Operation operation;
  const auto read = [&](std::initializer_list<int> inputs, int result) {
    for (const int attribute : inputs) {
      const auto input = described(descriptor.part(attribute));
      if (!input) return false;
      operation.inputs.push_back(*input);
    }
    const auto y = described(descriptor.part(result));
    if (y) operation.y = *y;
    return y.has_value();
  };
  bool whole = false;
  if (descriptor.type == kProduct) {
    operation.step = Step::Product;
    whole = descriptor.part(1523) != nullptr && descriptor.part(1523)->one<int>(1500) == kF32 && read({1520, 1521}, 1522);
  } else if (descriptor.type == kReduction && descriptor.part(1612) != nullptr) {
    const int mode = descriptor.part(1612)->one<int>(1600);
    operation.step = mode == 0 ? Step::Sum : Step::Largest;
    whole = (mode == 0 || mode == 3) && read({1610}, 1611);
  } else if (descriptor.type == kReshape) {
    operation.step = Step::Same;
    whole = read({2200}, 2201);
  } else if (descriptor.type == kPointwise && descriptor.part(750) != nullptr) {
    const auto step = stepOf(descriptor.part(750)->one<int>(0));
    if (!step) return std::nullopt;
    operation.step = *step;
    operation.axis = static_cast<int>(descriptor.part(750)->one<std::int64_t>(9));
    const int count = operandsOf(*step);
    whole = count == 1 ? read({751}, 753) : count == 2 ? read({751, 752}, 753) : read({751, 752, 758}, 753);
  }
  return whole ? std::optional(operation) : std::nullopt;
}

bool repeats(const Described& input, const Described& y, std::size_t axis) {
  return input.tensor.dims[axis] == y.tensor.dims[axis] || input.tensor.dims[axis] == 1;
}

/// Whether its sizes go together.
bool fits(const Operation& operation) {
  const auto& x = operation.inputs.front().tensor.dims;
  const auto& y = operation.y.tensor.dims;
  const bool lead = x[0] == y[0] && x[1] == y[1];
  if (operation.step == Step::Same) return operation.inputs.front().count() == operation.y.count();
  if (operation.step == Step::Sum || operation.step == Step::Largest) return lead && x[2] == y[2] && y[3] == 1;
  if (operation.step == Step::Product) {
    const auto& b = operation.inputs[1].tensor.dims;
    return lead && b[0] == y[0] && b[1] == y[1] && x[2] == y[2] && x[3] == b[2] && b[3] == y[3];
  }
  return std::all_of(operation.inputs.begin(), operation.inputs.end(), [&](const Described& input) {
    return repeats(input, operation.y, 0) && repeats(input, operation.y, 1) && repeats(input, operation.y, 2) &&
           repeats(input, operation.y, 3);
  });
}

/// Its operations; none where it is no such graph.
std::vector<Operation> operationsOf(const Descriptor& graph) {
  const auto parts = graph.parts.find(801);
  if (parts == graph.parts.end()) return {};
  std::vector<Operation> operations;
  std::set<std::int64_t> computed;
  for (const std::shared_ptr<Descriptor>& part : parts->second) {
    const auto operation = operationOf(*part);
    if (!operation || !fits(*operation)) return {};
    for (const Described& input : operation->inputs) {
      if (input.between && !computed.contains(input.id)) return {};
    }
    if (!computed.insert(operation->y.id).second) return {};
    operations.push_back(*operation);
  }
  return operations;
}

std::int64_t bytesBetween(const std::vector<Operation>& operations) {
  std::int64_t bytes = 0;
  for (const Operation& operation : operations) bytes += operation.y.between ? operation.y.bytes() : 0;
  return bytes;
}

}  // namespace

bool isGraph(const Descriptor& graph) { return operationsOf(graph).size() > 1; }

std::int64_t workspaceOf(const Descriptor& graph) { return bytesBetween(operationsOf(graph)); }

int executeGraph(const Descriptor& graph, const Descriptor& pack, void* stream) {
  const auto ids = pack.list<std::int64_t>(1000);
  const auto pointers = pack.list<void*>(1001);
  auto* workspace = pack.one<char*>(1003);
  if (ids.size() != pointers.size() || workspace == nullptr) return kBadParameter;
  const std::vector<Operation> operations = operationsOf(graph);
  if (!spoil(workspace, static_cast<std::size_t>(bytesBetween(operations)), stream).fine()) return kFailed;
  std::map<std::int64_t, void*> places;
  for (std::size_t i = 0; i < ids.size(); ++i) places[ids[i]] = pointers[i];
  const auto operandOf = [&](const Described& from) {
    Operand operand{from.tensor, 0};
    const auto known = places.find(from.id);
    void* const place = known != places.end() ? known->second : nullptr;
    if (from.constant && place != nullptr) operand.value = *static_cast<const float*>(place);
    operand.tensor.first = from.constant ? nullptr : place;
    return operand;
  };
  const auto lacks = [&](const Described& from) {
    const auto known = places.find(from.id);
    return known == places.end() || known->second == nullptr ||
           (!from.constant && reinterpret_cast<std::uintptr_t>(known->second) % kGap != 0);
  };
  for (const Operation& operation : operations) {
    if (operation.y.between) {
      places[operation.y.id] = workspace;
      workspace += operation.y.bytes();
    }
    if (lacks(operation.y) || std::any_of(operation.inputs.begin(), operation.inputs.end(), lacks)) return kBadParameter;
    StepWork work{operation.step, operation.axis, operandOf(operation.inputs[0]), {}, {}, operandOf(operation.y).tensor};
    if (operation.inputs.size() > 1) work.b = operandOf(operation.inputs[1]);
    if (operation.inputs.size() > 2) work.t = operandOf(operation.inputs[2]);
    if (!run(work, stream).fine()) return kFailed;
  }
  return kFine;
}

}  // namespace tbem::standin
