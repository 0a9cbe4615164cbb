#include "Machine.h"

#include "compiler/count/Layout.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Philox.h"

#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

namespace tbem::test {

using graph::ElemOp;
using graph::index;
using graph::TensorId;

// ---- A backend with blocked layouts ---------------------------------------------------------------------------------------

namespace {
int queries = 0;

void block(tbem_operand& operand, const std::vector<std::pair<int, int>>& blocks) {
  std::vector<int> order(static_cast<std::size_t>(operand.rank));
  for (int k = 0; k < operand.rank; ++k) order[static_cast<std::size_t>(k)] = k;
  runtime::setBlocked(operand, order, blocks);
}
bool many(const tbem_operand& operand, int k) { return operand.dims[k] % 16 == 0; }

void chooseConv(tbem_op_desc& op) {
  const bool isForward = op.primitive == TBEM_PRIMITIVE_conv2d;
  const bool isInput = op.primitive == TBEM_PRIMITIVE_conv2d_input_gradient;
  // Positions of the operands: {image in, weight, image out}.
  tbem_operand& image = op.operands[isForward ? 0 : (isInput ? 2 : 0)];
  tbem_operand& weight = op.operands[isForward || isInput ? 1 : 2];
  tbem_operand& result = op.operands[isForward ? 3 : (isInput ? 0 : 1)];
  const bool both = many(image, 1) && many(result, 1);
  for (tbem_operand* one : {&image, &result}) {
    if (one->layout.any != 0) many(*one, 1) ? block(*one, {{1, 16}}) : runtime::setPlain(*one);
  }
  if (weight.layout.any == 0) return;
  if (both) {
    isInput ? block(weight, {{0, 16}, {1, 16}}) : block(weight, {{1, 16}, {0, 16}});
  } else {
    runtime::setPlain(weight);
  }
}

bool isConv(int primitive) {
  return primitive == TBEM_PRIMITIVE_conv2d || primitive == TBEM_PRIMITIVE_conv2d_input_gradient ||
         primitive == TBEM_PRIMITIVE_conv2d_weight_gradient;
}

thread_local std::string message;

tbem_status query(tbem_op_desc* op, tbem_op_info* info) {
  ++queries;
  if (op->algorithm > (isConv(op->primitive) ? 1 : 0)) {
    message = "there is no such algorithm";
    return TBEM_UNSUPPORTED;
  }
  if (isConv(op->primitive)) {
    // Like a generated kernel, the input gradient takes weights in its own order only.
    if (op->primitive == TBEM_PRIMITIVE_conv2d_input_gradient && op->operands[1].layout.any == 0 &&
        !runtime::isPlain(op->operands[1])) {
      tbem_operand wanted = op->operands[1];
      block(wanted, {{0, 16}, {1, 16}});
      if (!runtime::sameLayout(wanted, op->operands[1])) {
        message = "weights are in another order";
        return TBEM_UNSUPPORTED;
      }
    }
    chooseConv(*op);
    info->workspace = static_cast<std::uint64_t>(op->operands[0].dims[1]) * (op->algorithm == 0 ? 100 : 1000);
    std::strcpy(info->implementation, op->algorithm == 0 ? "blocked" : "other");
  }
  // Everything else follows its first image.
  const tbem_operand* model = nullptr;
  for (int i = 0; i < op->inputs; ++i) {
    if (op->operands[i].present != 0 && op->operands[i].rank == 4 && model == nullptr) model = &op->operands[i];
  }
  for (int i = 0; i < op->inputs + op->outputs; ++i) {
    tbem_operand& operand = op->operands[i];
    if (operand.present == 0 || operand.layout.any == 0) continue;
    if (model != nullptr && operand.rank == 4 && i >= op->inputs && !runtime::isPlain(*model) && many(operand, 1)) {
      block(operand, {{1, 16}});
    } else {
      runtime::setPlain(operand);
    }
  }
  return TBEM_OK;
}

tbem_status probe(tbem_device_info* info) {
  std::strcpy(info->name, "test");
  return TBEM_OK;
}
const char* lastError() { return message.c_str(); }
}  // namespace

const tbem_backend& blockedBackend() {
  static const tbem_backend table = [] {
    tbem_backend t = *tbem_backend_ref();
    t.name = "blocked";
    t.probe = probe;
    t.query = query;
    t.last_error = lastError;
    return t;
  }();
  return table;
}
int blockedQueries() { return queries; }

// ---- Running --------------------------------------------------------------------------------------------------------------

namespace {
std::vector<std::int64_t> dimsIn(const graph::Graph& graph, const sema::Values& values, TensorId tensor) {
  std::vector<std::int64_t> dims;
  for (const graph::ExprId id : graph[tensor].shape) dims.push_back(values.integer(id));
  return dims;
}

/// Runs a native call of the reference backend on row-major host values.
void runNative(int primitive, const std::vector<tbem_operand>& operands, int inputs, const std::vector<std::int64_t>& attributes,
               const std::vector<double>& scalars, std::vector<std::vector<double>>& data) {
  std::vector<tbem_operand> plain = operands;
  std::vector<std::vector<char>> bytes(operands.size());
  std::vector<void*> pointers(operands.size(), nullptr);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].present == 0) continue;
    runtime::setPlain(plain[i]);
    bytes[i].resize(static_cast<std::size_t>(plain[i].layout.bytes));
    pointers[i] = bytes[i].data();
    if (static_cast<int>(i) < inputs) runtime::fromDoubles(plain[i].dtype, data[i], bytes[i].data());
  }
  tbem_op_desc desc{};
  desc.size = sizeof desc;
  desc.primitive = primitive;
  desc.inputs = inputs;
  desc.outputs = static_cast<int>(operands.size()) - inputs;
  desc.operands = plain.data();
  desc.attributes = attributes.data();
  desc.attribute_count = static_cast<int>(attributes.size());
  desc.threads = 1;
  tbem_op_info info{};
  const tbem_backend& ref = *tbem_backend_ref();
  tbem_op* op = nullptr;
  if (ref.query(&desc, &info) != TBEM_OK || ref.create(&desc, &op) != TBEM_OK) throw std::runtime_error(ref.last_error());
  std::vector<char> workspace(static_cast<std::size_t>(info.workspace) + 64);
  if (ref.run(op, pointers.data(), workspace.data(), scalars.data()) != TBEM_OK) throw std::runtime_error(ref.last_error());
  ref.destroy(op);
  for (std::size_t i = static_cast<std::size_t>(inputs); i < operands.size(); ++i) {
    if (operands[i].present == 0) continue;
    data[i].resize(static_cast<std::size_t>(estimate::elementCount(operands[i])));
    runtime::toDoubles(plain[i].dtype, bytes[i].data(), data[i]);
  }
}

double apply(const graph::ElemNode& n, double a, double b, double c) {
  switch (n.op) {
    case ElemOp::Constant:
      return n.value.toDouble();
    case ElemOp::Add:
      return a + b;
    case ElemOp::Sub:
      return a - b;
    case ElemOp::Mul:
      return a * b;
    case ElemOp::Div:
      return a / b;
    case ElemOp::Neg:
      return -a;
    case ElemOp::Minimum:
      return std::fmin(a, b);
    case ElemOp::Maximum:
      return std::fmax(a, b);
    case ElemOp::Abs:
      return std::fabs(a);
    case ElemOp::Exp:
      return std::exp(a);
    case ElemOp::Log:
      return std::log(a);
    case ElemOp::Sqrt:
      return std::sqrt(a);
    case ElemOp::Rsqrt:
      return 1 / std::sqrt(a);
    case ElemOp::Pow:
      return std::pow(a, b);
    case ElemOp::Tanh:
      return std::tanh(a);
    case ElemOp::Erf:
      return std::erf(a);
    case ElemOp::Floor:
      return std::floor(a);
    case ElemOp::Equal:
      return a == b ? 1 : 0;
    case ElemOp::Less:
      return a < b ? 1 : 0;
    case ElemOp::LessEqual:
      return a <= b ? 1 : 0;
    case ElemOp::And:
      return a != 0 && b != 0 ? 1 : 0;
    case ElemOp::Or:
      return a != 0 || b != 0 ? 1 : 0;
    case ElemOp::Not:
      return a == 0 ? 1 : 0;
    case ElemOp::Select:
      return a != 0 ? b : c;
    case ElemOp::Cast:
      return n.dtype == TBEM_I64 || n.dtype == TBEM_I32 ? std::trunc(a) : a;
    default:
      throw std::runtime_error("an operation that no test uses");
  }
}

/// Calls body(coordinates) for every element in row-major order.
template <class Body>
void forEach(const std::vector<std::int64_t>& dims, Body body) {
  std::vector<std::int64_t> at(dims.size(), 0);
  while (true) {
    body(at);
    std::size_t k = dims.size();
    while (k > 0 && ++at[k - 1] == dims[k - 1]) at[--k] = 0;
    if (k == 0) return;
  }
}

std::vector<std::int64_t> operandCoordinates(const std::vector<std::int32_t>& axes, const std::vector<std::int64_t>& dims,
                                             const std::vector<std::int64_t>& at) {
  std::vector<std::int64_t> own(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) own[k] = axes[k] < 0 || dims[k] == 1 ? 0 : at[static_cast<std::size_t>(axes[k])];
  return own;
}

std::size_t rowMajor(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& at) {
  std::size_t number = 0;
  for (std::size_t k = 0; k < dims.size(); ++k)
    number = number * static_cast<std::size_t>(dims[k]) + static_cast<std::size_t>(at[k]);
  return number;
}
}  // namespace

Host initialValues(const graph::Graph& graph, const sema::Values& values) {
  Host host;
  std::mt19937 random(11);
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const auto id = static_cast<TensorId>(t);
    if (graph[id].producer != graph::kNoOp) continue;
    const tbem_operand operand = estimate::plainOperand(graph[id].dtype, dimsIn(graph, values, id));
    std::vector<double>& data = host[id];
    for (std::int64_t i = 0; i < estimate::elementCount(operand); ++i) {
      const double unit = static_cast<double>(random() % 2000) / 1000 - 1;
      data.push_back(graph[id].dtype == TBEM_I64 ? static_cast<double>(random() % 10) : unit);
    }
  }
  return host;
}

void runGraph(const graph::Graph& graph, const sema::Values& values, Host& host) {
  for (const graph::OpId id : graph[graph::kMainRegion].ops) {
    const graph::Op& op = graph[id];
    if (op.kind == graph::OpKind::View) {
      host[op.outputs[0]] = host.at(op.inputs[0]);
      continue;
    }
    if (op.kind == graph::OpKind::Elementwise) {
      const std::vector<std::int64_t> dims = dimsIn(graph, values, op.outputs[0]);
      std::vector<std::vector<double>> results(op.outputs.size());
      forEach(dims, [&](const std::vector<std::int64_t>& at) {
        std::vector<double> node(op.elementwise.nodes.size());
        for (std::size_t i = 0; i < node.size(); ++i) {
          const graph::ElemNode& n = op.elementwise.nodes[i];
          if (n.op == ElemOp::Input) {
            const std::vector<std::int64_t> inDims = dimsIn(graph, values, op.inputs[n.input]);
            node[i] = host.at(
                op.inputs[n.input])[rowMajor(inDims, operandCoordinates(op.elementwise.operands[n.input].axes, inDims, at))];
          } else if (n.op == ElemOp::Scalar) {
            node[i] = values[n.scalar].toDouble();
          } else {
            node[i] = apply(n, node[n.a], node[n.b], node[n.c]);
          }
        }
        for (std::size_t r = 0; r < results.size(); ++r) results[r].push_back(node[op.elementwise.roots[r]]);
      });
      for (std::size_t r = 0; r < results.size(); ++r) host[op.outputs[r]] = std::move(results[r]);
      continue;
    }
    std::vector<tbem_operand> operands;
    std::vector<std::vector<double>> data;
    for (const std::vector<TensorId>* list : {&op.inputs, &op.outputs}) {
      for (const TensorId tensor : *list) {
        operands.push_back(tensor == graph::kNoTensor
                               ? tbem_operand{}
                               : estimate::plainOperand(graph[tensor].dtype, dimsIn(graph, values, tensor)));
        data.push_back(tensor != graph::kNoTensor && list == &op.inputs ? host.at(tensor) : std::vector<double>{});
      }
    }
    std::vector<std::int64_t> attributes;
    for (const graph::Attribute& attribute : op.attributes) {
      if (attribute.name == "axis" && op.primitive == TBEM_PRIMITIVE_reduce_sum)
        attributes.push_back(static_cast<std::int64_t>(attribute.values.size()));
      for (const graph::ExprId value : attribute.values) attributes.push_back(values.integer(value));
    }
    std::vector<double> scalars;
    for (const graph::ExprId scalar : op.scalars) scalars.push_back(values[scalar].toDouble());
    runNative(op.primitive, operands, static_cast<int>(op.inputs.size()), attributes, scalars, data);
    for (std::size_t r = 0; r < op.outputs.size(); ++r) host[op.outputs[r]] = data[op.inputs.size() + r];
  }
}

std::map<TensorId, std::vector<double>> runProgram(const graph::Graph& graph, const estimate::Program& program,
                                                   const tbem_backend&, const Host& initial,
                                                   const std::vector<TensorId>& wanted) {
  std::vector<double> storage(static_cast<std::size_t>(program.arena / 8) + 1, std::nan(""));
  char* arena = reinterpret_cast<char*>(storage.data());
  const auto address = [&](estimate::BufferId id) { return arena + program.allocations[program[id].allocation].offset; };
  const auto load = [&](estimate::BufferId id) {
    const tbem_operand& operand = program[id].operand;
    std::vector<char> plain(static_cast<std::size_t>(estimate::elementCount(operand)) * estimate::elementBytes(operand.dtype));
    runtime::toPlain(operand, address(id), plain.data());
    std::vector<double> data(static_cast<std::size_t>(estimate::elementCount(operand)));
    runtime::toDoubles(operand.dtype, plain.data(), data);
    return data;
  };
  const auto store = [&](estimate::BufferId id, const std::vector<double>& data) {
    const tbem_operand& operand = program[id].operand;
    std::vector<char> plain(data.size() * estimate::elementBytes(operand.dtype));
    runtime::fromDoubles(operand.dtype, data, plain.data());
    runtime::fromPlain(operand, plain.data(), address(id));
  };
  for (const auto& [tensor, data] : initial) store(program.bufferOf[index(tensor)], data);

  for (const estimate::Step& step : program.steps) {
    if (step.kind == estimate::Step::Kind::Call) {
      const estimate::NativeCall& call = program.calls[step.index];
      std::vector<tbem_operand> operands;
      std::vector<std::vector<double>> data;
      for (std::size_t i = 0; i < call.operands.size(); ++i) {
        const bool there = call.operands[i] != estimate::kNoBuffer;
        operands.push_back(there ? program[call.operands[i]].operand : tbem_operand{});
        data.push_back(there && i < call.inputs ? load(call.operands[i]) : std::vector<double>{});
      }
      std::vector<double> scalars;
      for (const std::uint32_t slot : call.scalars) scalars.push_back(program.scalars[slot]);
      // The workspace is overwritten while the call runs, as a library would.
      if (call.workspace != estimate::kNoBuffer)
        std::memset(address(call.workspace), 0xFF, static_cast<std::size_t>(program[call.workspace].operand.layout.bytes));
      runNative(call.primitive, operands, static_cast<int>(call.inputs), call.attributes, scalars, data);
      for (std::size_t i = call.inputs; i < call.operands.size(); ++i) {
        if (call.operands[i] != estimate::kNoBuffer) store(call.operands[i], data[i]);
      }
      continue;
    }
    const estimate::FusedLoop& loop = program.loops[step.index];
    forEach(loop.dims, [&](const std::vector<std::int64_t>& at) {
      std::vector<double> node(loop.nodes.size());
      for (std::size_t i = 0; i < node.size(); ++i) {
        const graph::ElemNode& n = loop.nodes[i];
        if (n.op == ElemOp::Input) {
          const estimate::FusedLoop::Input& input = loop.inputs[n.input];
          const tbem_operand& operand = program[input.buffer].operand;
          const std::vector<std::int64_t> own = operandCoordinates(input.axes, {operand.dims, operand.dims + operand.rank}, at);
          const char* element = address(input.buffer) + runtime::offsetOf(operand, own.data()) *
                                                            static_cast<std::int64_t>(estimate::elementBytes(operand.dtype));
          double value = 0;
          runtime::toDoubles(operand.dtype, element, {&value, 1});
          node[i] = value;
        } else if (n.op == ElemOp::Scalar) {
          node[i] = program.scalars[n.input];
        } else if (n.op == ElemOp::Random) {
          node[i] = runtime::philoxUniform(runtime::philoxAt(kSeed, n.stream, 1, rowMajor(loop.dims, at)));
        } else if (n.op == ElemOp::Index) {
          node[i] = static_cast<double>(at[n.input]);
        } else {
          node[i] = apply(n, node[n.a], node[n.b], node[n.c]);
        }
      }
      for (const estimate::FusedLoop::Output& output : loop.outputs) {
        const tbem_operand& operand = program[output.buffer].operand;
        char* element = address(output.buffer) +
                        runtime::offsetOf(operand, at.data()) * static_cast<std::int64_t>(estimate::elementBytes(operand.dtype));
        runtime::fromDoubles(operand.dtype, {&node[output.node], 1}, element);
      }
    });
  }
  std::map<TensorId, std::vector<double>> results;
  for (const TensorId tensor : wanted) {
    if (program.bufferOf[index(tensor)] == estimate::kNoBuffer)
      throw std::runtime_error("`" + graph[tensor].name + "` has no buffer");
    results[tensor] = load(program.bufferOf[index(tensor)]);
  }
  return results;
}

}  // namespace tbem::test
