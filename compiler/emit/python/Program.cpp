#include "compiler/emit/python/Program.h"

#include "compiler/emit/python/Reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace tbem::emit {

namespace {

/// What changes how a step computes and is not written.
std::optional<Refusal> notWritten(const graph::Graph& graph, const StepClauses& clauses, const Framework& framework) {
  const SrcRange at = graph.scopes.front().range;
  if (clauses.checkpoint)
    return Refusal{at, "`checkpoint`", "A step that computes activations again has no form in this program yet."};
  if (clauses.turns) return Refusal{at, "a clause `turn`", "Each turn is a step of its own, and the program has one."};
  if (graph.tf32 && !framework.hasTf32)
    return Refusal{at, "`math tf32`", fmt::format("{} has no word for products of f32 that are rounded.", framework.name)};
  const auto narrow = std::ranges::find_if(
      graph.tensors, [](const graph::Tensor& tensor) { return tensor.dtype == TBEM_BF16 || tensor.dtype == TBEM_F16; });
  if (narrow != graph.tensors.end()) {
    const std::string type(sema::kDTypeNames[static_cast<std::size_t>(narrow->dtype)]);
    return Refusal{at, "a network of " + type,
                   fmt::format("Its program would compute in f32; `mixed {}` is written as {}.", type, framework.mixed)};
  }
  for (const graph::Op& op : graph.ops) {
    if (framework.hasGates) break;
    if (op.kind == graph::OpKind::Skip || op.kind == graph::OpKind::Exit)
      return Refusal{op.range, "a gate", fmt::format("What a gate skips has no form in {}'s modules here yet.", framework.name)};
  }
  return std::nullopt;
}

}  // namespace

StepClauses stepClauses(const graph::ExperimentSpec& spec, GateForm gates) {
  return {spec.mixed, spec.checkpoint.has_value(), gates,
          std::ranges::any_of(spec.groups.groups, &graph::ParameterGroup::elsewhere)};
}

tl::expected<NetworkClasses, Refusal> networkClasses(const graph::Row& row, const StepClauses& clauses,
                                                     const Framework& framework, const ModuleSource& source,
                                                     const IsKnown& isKnown, const Dialect& dialect) {
  const graph::Graph& graph = row.graph();
  if (const std::optional<Refusal> refusal = notWritten(graph, clauses, framework)) return tl::unexpected(*refusal);
  tl::expected<std::unique_ptr<ModuleNode>, Refusal> tree = moduleTree(source, 0, isKnown);
  if (!tree) return tl::unexpected(tree.error());
  tl::expected<std::vector<Module>, Refusal> modules = readModules(graph, **tree, dialect);
  if (!modules) return tl::unexpected(modules.error());
  tl::expected<Classes, Refusal> classes =
      classesOf(graph, std::move(*modules), dialect, [&](const sema::Value& value) { return valueText(row, value); });
  if (!classes) return tl::unexpected(classes.error());
  return NetworkClasses{std::move(*tree), std::move(*classes)};
}

namespace {

/// Whether an operator of the standard library has a `backward` that is not the derivative: a gate's decision.
bool isEstimator(const ast::Callable& decl) { return decl.name.text == "hard_share" || decl.name.text == "drawn"; }

}  // namespace

std::vector<Refusal> ownGradients(const graph::Row& row, const Framework& framework) {
  std::vector<Refusal> own;
  if (!row.graph().training) return own;
  std::set<const ast::Callable*> told;
  for (const graph::Call& call : row.structure->calls) {
    if (call.decl == nullptr || call.decl->backward.empty() || (call.isStandard && !isEstimator(*call.decl)) ||
        !told.insert(call.decl).second)
      continue;
    own.push_back({call.use, "`backward` of `" + call.decl->name.text + "`",
                   fmt::format("{} differentiates what is computed; where the clause says something else, gradients differ.",
                               framework.name)});
  }
  return own;
}

bool readsModule(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
    const char before = at == 0 ? ' ' : text[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_' && before != '.') return true;
  }
  return false;
}

std::vector<std::string> inputNames(const graph::Row& row, const TakenWords& taken) {
  const graph::Graph& graph = row.graph();
  std::vector<std::string> names;
  for (const graph::TensorId input : graph.inputs) {
    const std::string& path = graph[graph[input].storage].path;
    if (graph.loss == graph::kNoTensor || path != "target") names.push_back(variableName(path, taken));
  }
  return names;
}

const graph::Call* lossOf(const graph::Row& row) {
  if (row.graph().loss == graph::kNoTensor) return nullptr;
  const std::vector<graph::Call>& calls = row.structure->calls;
  return &*std::find_if(calls.begin() + 1, calls.end(), [](const graph::Call& call) { return call.parent == graph::kNoCall; });
}

std::optional<Refusal> severalLosses(const graph::Row& row, const graph::Call& loss) {
  if (loss.tensors.size() != 2) {
    return Refusal{loss.use, "a loss of several results or targets", "The step of a program has one output and one target."};
  }
  const std::vector<graph::Call>& calls = row.structure->calls;
  const auto isOfTask = [](const graph::Call& call) { return call.parent == graph::kNoCall; };
  if (std::count_if(calls.begin() + 1, calls.end(), isOfTask) == 1) return std::nullopt;
  return Refusal{loss.use, "a loss of several parts",
                 "A program has one loss of one result: exits and rewards of gates have parts of their own."};
}

std::string lossText(const graph::Call& loss, const Code& code, const std::vector<Hole>& holes, const std::string& target) {
  std::vector<std::string> texts;
  texts.reserve(holes.size());
  for (const Hole& hole : holes) texts.push_back(hole.text);
  const graph::TensorId output = tensorsOf(loss.tensors[0]).front();
  return expressionText(
      code, [&](graph::TensorId tensor) { return std::pair(tensor == output ? "output" : target, Binding::Atom); }, texts);
}

}  // namespace tbem::emit
