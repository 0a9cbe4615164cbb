// Convolution and its gradients by oneDNN: answers to descriptions, kept, and prepared operators.
#include "runtime/backends/cpu/dnnl/DnnlConv.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace tbem::cpu {
namespace {

using namespace onednn;

/// What was answered before, by description: a network asks the same shapes many times, and `create` asks again.
struct Answer {
  Descriptor descriptor;
  std::vector<tbem_operand> operands;
};

struct Answers {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<const Answer>> of;
};

Answers& answers() {
  static Answers made;
  return made;
}

void append(std::string& key, const void* data, std::size_t bytes) { key.append(static_cast<const char*>(data), bytes); }

std::string keyOf(const tbem_op_desc& op, const tbem_operand* operands) {
  std::string key;
  const std::array<int, 3> head = {op.primitive, threadsOf(op), op.algorithm};
  append(key, head.data(), sizeof head);
  append(key, op.attributes, static_cast<std::size_t>(op.attribute_count) * sizeof *op.attributes);
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    const tbem_operand& operand = operands[k];
    const tbem_layout& layout = operand.layout;
    key.push_back(static_cast<char>(operand.present + 2 * layout.any));
    if (!operand.present) continue;
    const auto rank = static_cast<std::size_t>(operand.rank);
    append(key, &operand.dtype, sizeof operand.dtype);
    append(key, operand.dims, rank * sizeof *operand.dims);
    if (layout.any) continue;
    append(key, layout.strides, rank * sizeof *layout.strides);
    append(key, layout.padded, rank * sizeof *layout.padded);
    append(key, layout.block_dim, static_cast<std::size_t>(layout.blocks) * sizeof *layout.block_dim);
    append(key, layout.block_size, static_cast<std::size_t>(layout.blocks) * sizeof *layout.block_size);
  }
  return key;
}

tbem_status refuse(const tbem_op_desc& op, const Attempt& best) {
  const auto name = runtime::signature(static_cast<tbem_primitive>(op.primitive)).name;
  if (op.algorithm != 0)
    return fail(TBEM_UNSUPPORTED, fmt::format("cpu: oneDNN has no algorithm {} for this {}", op.algorithm, name));
  return fail(TBEM_UNSUPPORTED,
              best.rank < 0
                  ? fmt::format("cpu: oneDNN has no {} in these layouts", name)
                  : fmt::format("cpu: in these layouts oneDNN has only {} for {}; layouts left to it have generated code",
                                best.descriptor.implementation(), name));
}

/// The answer to a description, from memory or from the library. Null: refused, last_error says why.
std::shared_ptr<const Answer> answerOf(const tbem_op_desc& op, tbem_status& status) {
  const std::string key = keyOf(op, op.operands);
  {
    const std::lock_guard lock(answers().mutex);
    const auto found = answers().of.find(key);
    if (found != answers().of.end()) return found->second;
  }
  Attempt best = chooseLayouts(op);
  bool refused = best.rank < 0;
  if (best.rank < 2 && op.algorithm == 0) {
    // Poor: acceptable only where free layouts would do no better.
    std::vector<tbem_operand> free(op.operands, op.operands + op.inputs + op.outputs);
    for (tbem_operand& operand : free) operand.layout.any = 1;
    tbem_op_desc all = op;
    all.operands = free.data();
    refused = refused || chooseLayouts(all).rank > best.rank;
  }
  if (refused) {
    status = refuse(op, best);
    return nullptr;
  }
  auto made = std::make_shared<Answer>(Answer{std::move(best.descriptor), std::move(best.operands)});
  const std::lock_guard lock(answers().mutex);
  if (answers().of.size() > 8192) answers().of.clear();
  answers().of[keyOf(op, made->operands.data())] = made;
  answers().of[key] = made;
  return made;
}

bool isCropped(const tbem_op_desc& op) { return op.algorithm == static_cast<std::int32_t>(ConvAlgorithm::Cropped); }

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (isCropped(op)) return queryCropped(op, info);
  if (wantsPadding(op) && queryPadded(op, info) == TBEM_OK) return TBEM_OK;
  tbem_status status = TBEM_OK;
  const auto answer = answerOf(op, status);
  if (answer == nullptr) return status;
  for (std::size_t k = 0; k < answer->operands.size(); ++k) op.operands[k] = answer->operands[k];
  if (wantsPadding(op) && queryPadded(op, info) == TBEM_OK) return TBEM_OK;  // `create` sees these layouts alone
  info.workspace = answer->descriptor.workspace();
  std::snprintf(info.implementation, sizeof info.implementation, "%s", std::string(answer->descriptor.implementation()).c_str());
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  if (isCropped(op)) return createCropped(op, out);
  tbem_status status = wantsPadding(op) ? createPadded(op, out) : TBEM_UNSUPPORTED;
  if (status != TBEM_UNSUPPORTED) return status;
  status = TBEM_OK;
  const auto answer = answerOf(op, status);
  if (answer == nullptr) return status;
  return makeOp(op, answer->descriptor, convolutionArguments(op, answer->descriptor), out);
}

}  // namespace

std::vector<onednn::Argument> convolutionArguments(const tbem_op_desc& op, const onednn::Descriptor& d) {
  using onednn::Argument;
  std::vector<Argument> arguments;
  if (op.primitive == TBEM_PRIMITIVE_conv2d) {
    arguments = {{DNNL_ARG_SRC, 0, d.memory(dnnl_query_src_md)},
                 {DNNL_ARG_WEIGHTS, 1, d.memory(dnnl_query_weights_md)},
                 {DNNL_ARG_DST, 3, d.memory(dnnl_query_dst_md)}};
    if (op.operands[2].present) arguments.push_back({DNNL_ARG_BIAS, 2, d.memory(dnnl_query_weights_md, 1)});
  } else if (op.primitive == TBEM_PRIMITIVE_conv2d_input_gradient) {
    arguments = {{DNNL_ARG_DIFF_DST, 0, d.memory(dnnl_query_diff_dst_md)},
                 {DNNL_ARG_WEIGHTS, 1, d.memory(dnnl_query_weights_md)},
                 {DNNL_ARG_DIFF_SRC, 2, d.memory(dnnl_query_diff_src_md)}};
  } else {
    arguments = {{DNNL_ARG_SRC, 0, d.memory(dnnl_query_src_md)},
                 {DNNL_ARG_DIFF_DST, 1, d.memory(dnnl_query_diff_dst_md)},
                 {DNNL_ARG_DIFF_WEIGHTS, 2, d.memory(dnnl_query_diff_weights_md)}};
  }
  return arguments;
}

Family convFamily() { return {query, create}; }

}  // namespace tbem::cpu
