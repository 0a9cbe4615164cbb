#include "Machine.h"

#include "test/oracle/Graph.h"

#include "compiler/count/Layout.h"
#include "runtime/core/Layout.h"

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
  oracle::GraphInterpreter meaning(graph, values, nullptr);
  for (const auto& [tensor, data] : host) meaning.of(tensor) = data;
  meaning.run(graph::Phase::Optimizer);
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) host[static_cast<TensorId>(t)] = meaning.of(static_cast<TensorId>(t));
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
      oracle::NativeCall native{call.primitive, {}, static_cast<int>(call.inputs), call.attributes, {}};
      std::vector<std::vector<double>> data;
      for (std::size_t i = 0; i < call.operands.size(); ++i) {
        const bool there = call.operands[i] != estimate::kNoBuffer;
        native.operands.push_back(there ? program[call.operands[i]].operand : tbem_operand{});
        data.push_back(there && i < call.inputs ? load(call.operands[i]) : std::vector<double>{});
      }
      for (const std::uint32_t slot : call.scalars) native.scalars.push_back(program.scalars[slot]);
      // The workspace is overwritten while the call runs, as a library would.
      if (call.workspace != estimate::kNoBuffer)
        std::memset(address(call.workspace), 0xFF, static_cast<std::size_t>(program[call.workspace].operand.layout.bytes));
      oracle::runNative(native, data);
      for (std::size_t i = call.inputs; i < call.operands.size(); ++i) {
        if (call.operands[i] != estimate::kNoBuffer) store(call.operands[i], data[i]);
      }
      continue;
    }
    const estimate::FusedLoop& loop = program.loops[step.index];
    oracle::forEach(loop.dims, [&](const std::vector<std::int64_t>& at) {
      std::vector<double> node(loop.nodes.size());
      for (std::size_t i = 0; i < node.size(); ++i) {
        const graph::ElemNode& n = loop.nodes[i];
        if (n.op == ElemOp::Input) {
          const estimate::FusedLoop::Input& input = loop.inputs[n.input];
          const tbem_operand& operand = program[input.buffer].operand;
          const std::vector<std::int64_t> own =
              oracle::operandCoordinates(input.axes, {operand.dims, operand.dims + operand.rank}, at);
          const char* element = address(input.buffer) + runtime::offsetOf(operand, own.data()) *
                                                            static_cast<std::int64_t>(estimate::elementBytes(operand.dtype));
          double value = 0;
          runtime::toDoubles(operand.dtype, element, {&value, 1});
          node[i] = value;
        } else if (n.op == ElemOp::Scalar) {
          node[i] = program.scalars[n.input];
        } else if (n.op == ElemOp::Random) {
          node[i] = runtime::philoxUniform(runtime::philoxAt(oracle::kSeed, n.stream, 1, oracle::rowMajor(loop.dims, at)));
        } else if (n.op == ElemOp::Index) {
          node[i] = static_cast<double>(at[n.input]);
        } else {
          node[i] = oracle::realValue(n, node[n.a], node[n.b], node[n.c]);
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
