#include "compiler/count/Conventions.h"

#include <algorithm>
#include <array>

namespace tbem::estimate {

namespace {
// DeepPerform (Chen et al. 2022) counts what PyTorch's modules Conv2d and Linear multiply, in a counter that comes from
// BlockDrop's released code: biases, normalisations, activations, pooling and the LSTM of SkipNet are not counted, nor are groups
// looked at.
constexpr std::array<CountRule, 2> kDeepPerformRules{{{.declaration = "conv2d", .mac = 2}, {.declaration = "dense", .mac = 2}}};
constexpr std::array<std::string_view, 1> kDeepPerformWithout{"lstm"};

// The profiler of the released code of Shallow-Deep Networks (Kaya et al. 2019): k multiplications take k - 1 additions, and what
// a grouped convolution takes is multiplied by its groups. Of a window of k x k it counts k numbers, not k * k: the code
// multiplies the sizes of a list that has one.
constexpr std::array<CountRule, 9> kSdnRules{{
    {.declaration = "conv2d", .mac = 2, .result = -1, .bias = 1},
    {.declaration = "dense", .mac = 2, .result = -1},
    {.declaration = "channel_affine", .result = 2},  // batch_norm at inference, and below while training
    {.declaration = "batch_normalize", .result = 2},
    {.declaration = "relu", .result = 1},
    {.declaration = "max_pool2d", .result = -1, .side = 1},
    {.declaration = "avg_pool2d", .side = 1},
    {.declaration = "adaptive_avg_pool2d", .side = 1},
    {.declaration = "sum", .side = 1},  // of global_avg_pool
}};

constexpr std::array<Convention, 5> kConventions{{
    {.name = "full", .others = {.mac = 2, .other = 1}},
    {.name = "mac", .others = {.mac = 1}},
    {.name = "flop2", .others = {.mac = 2}},
    {.name = "deepperform", .rules = kDeepPerformRules, .without = kDeepPerformWithout, .timesGroups = true},
    {.name = "sdn", .rules = kSdnRules, .timesGroups = true},
}};
}  // namespace

std::span<const Convention> conventions() { return kConventions; }

const Convention& fullConvention() { return kConventions.front(); }

const Convention* findConvention(std::string_view name) {
  const auto found =
      std::find_if(kConventions.begin(), kConventions.end(), [name](const Convention& c) { return c.name == name; });
  return found == kConventions.end() ? nullptr : &*found;
}

namespace {
/// Whether the operator stands in a block in which the convention counts nothing.
bool leavesOut(const Convention& convention, const graph::Graph& graph, graph::ScopeId scope) {
  if (convention.without.empty()) return false;
  for (graph::ScopeId at = scope;; at = graph.scopes[graph::index(at)].parent) {
    const graph::Scope& here = graph.scopes[graph::index(at)];
    if (std::find(convention.without.begin(), convention.without.end(), here.declaration) != convention.without.end())
      return true;
    if (at == here.parent) return false;  // the network is its own parent
  }
}

const CountRule& ruleFor(const Convention& convention, std::string_view declaration) {
  for (const CountRule& rule : convention.rules)
    if (rule.declaration == declaration) return rule;
  return convention.others;
}

/// The first number of an attribute; kNoExpr: the operator has none of that name.
graph::ExprId attributeOf(const graph::Op& op, std::string_view name) {
  for (const graph::Attribute& attribute : op.attributes)
    if (attribute.name == name) return attribute.values.front();
  return sema::kNoExpr;
}

/// The height of a pooling window; without an attribute that of the image, which is pooled as a whole.
graph::ExprId windowOf(const graph::Graph& graph, const graph::Op& op) {
  const graph::ExprId kernel = attributeOf(op, "kernel");
  const std::vector<graph::ExprId>& shape = graph[op.inputs.front()].shape;
  return kernel == sema::kNoExpr && shape.size() > 2 ? shape[2] : kernel;
}

bool hasBias(const graph::Op& op) { return op.inputs.size() > 2 && op.inputs[2] != graph::kNoTensor; }
}  // namespace

CountWeights countWeights(const Convention& convention, const graph::Graph& graph, const graph::Op& op) {
  CountWeights weights;
  if (leavesOut(convention, graph, op.scope)) return weights;
  const bool isGradient = op.phase == graph::Phase::Backward && op.forward != graph::kNoOp;
  const CountRule& rule = ruleFor(convention, isGradient ? graph[op.forward].declaration : op.declaration);
  weights.mac = rule.mac;
  weights.other = rule.other;
  if (convention.timesGroups) weights.groups = attributeOf(op, "groups");
  if (isGradient) return weights;
  weights.result = rule.result + (hasBias(op) ? rule.bias : 0);
  weights.side = rule.side;
  if (weights.side != 0) weights.window = windowOf(graph, op);
  return weights;
}

}  // namespace tbem::estimate
