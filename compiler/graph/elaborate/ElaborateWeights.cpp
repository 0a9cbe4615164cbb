// Weights and buffers: their shapes, initialisers and stable paths; updates of buffers.
#include "compiler/diagnostics/Hints.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/elaborate/Elaborator.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tbem::graph {

namespace {
struct InitRow {
  std::string_view name;
  std::size_t least, most;
};
constexpr std::array<InitRow, 10> kInits = {{{"zeros", 0, 0},
                                             {"ones", 0, 0},
                                             {"constant", 1, 1},
                                             {"normal", 0, 2},
                                             {"uniform", 0, 2},
                                             {"he_normal", 0, 0},
                                             {"he_uniform", 0, 0},
                                             {"xavier_normal", 0, 0},
                                             {"xavier_uniform", 0, 0},
                                             {"torch_uniform", 0, 0}}};
}  // namespace

std::optional<Init> Elaborator::readInit(const ast::Expr* init) {
  Init result;
  if (init == nullptr) return result;
  const auto* call = ast::dynCast<ast::Call>(init);
  const auto* name = ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : init);
  if (name == nullptr) {
    fail(diag::unknown_init, init->range, sourceText(session.sources, init->range));
    return std::nullopt;
  }
  std::string word = name->name.text;
  if (const Local* local = frame->find(word); local != nullptr && local->value.is(ValueKind::String)) word = local->value.text();
  const auto row = std::find_if(kInits.begin(), kInits.end(), [&](const InitRow& one) { return one.name == word; });
  if (row == kInits.end()) {
    std::vector<std::string> names;
    names.reserve(kInits.size());
    for (const InitRow& one : kInits) names.emplace_back(one.name);
    Diagnostic& d = sink.report(diag::unknown_init, init->range, word);
    if (const std::string near = nearest(word, names); !near.empty())
      d.note("did you mean `" + near + "`?").fix(name->range, near);
    else
      d.note("there are " + nearestFew(word, names));
    return std::nullopt;
  }
  result.kind = word;
  const std::size_t count = call != nullptr ? call->arguments.size() : 0;
  if (count < row->least || count > row->most) {
    fail(diag::wrong_kind, init->range, "`" + word + "`", std::to_string(row->most) + " numbers", std::to_string(count));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Value value = evaluate(*call->arguments[i].value);
    if (!value.is(ValueKind::Number)) {
      wrongKind(call->arguments[i].range, "`" + word + "`", "numbers", value);
      return std::nullopt;
    }
    (i == 0 ? result.a : result.b) = value.expr;
  }
  // Defaults: the standard normal, the unit interval.
  if ((word == "normal" || word == "uniform") && result.a == sema::kNoExpr) result.a = pool.constant(0);
  if ((word == "normal" || word == "uniform") && result.b == sema::kNoExpr) result.b = pool.constant(1);
  const auto first = result.a != sema::kNoExpr ? peek(result.a) : std::nullopt;
  const auto second = result.b != sema::kNoExpr ? peek(result.b) : std::nullopt;
  if (word == "normal" && second && second->num < 0) {
    failAt(result.b, diag::wrong_kind, init->range, "`normal`", "a standard deviation of 0 or more", second->str());
    return std::nullopt;
  }
  if (word == "uniform" && first && second && compare(*first, *second) > 0) {
    failAt(result.b, diag::wrong_kind, init->range, "`uniform`", "its lower end first", first->str() + " and " + second->str());
    return std::nullopt;
  }
  return result;
}

bool Elaborator::makeWeight(Activation& a, const ast::WeightStmt& weight) {
  if (weight.condition != nullptr) {
    const std::optional<bool> wanted =
        forceBool(evaluate(*weight.condition), "the condition of a weight", weight.condition->range);
    if (!wanted) return false;
    if (!*wanted) {
      a.frame.define(weight.name.text, Value::none(), weight.name.range);
      return true;
    }
  }
  const auto* type = ast::dynCast<ast::TensorType>(weight.type);
  if (type == nullptr) {
    fail(diag::wrong_tensor, weight.range, "a weight", "a tensor type");
    return false;
  }
  Labels labels;
  std::optional<std::vector<ExprId>> shape =
      shapeFromType(a, *type, labels, [&] { return "weight `" + weight.name.text + "` of `" + a.decl->name.text + "`"; });
  const std::optional<tbem_dtype> dtype = dtypeFromType(a, *type);
  if (!shape || !dtype) return false;
  // Each turn of a loop has its own.
  const std::string& place = phase() == Phase::Forward && paths.here().starts_with(a.path) ? paths.here() : a.path;
  const std::string path = place.empty() ? weight.name.text : place + "." + weight.name.text;
  TensorId id{};
  if (const auto it = owned.weightByPath.find(path); it != owned.weightByPath.end()) {
    id = it->second;
    replay.noteShared();
    const Tensor& known = graph[id];
    bool same = known.shape.size() == shape->size();
    for (std::size_t k = 0; same && k < shape->size(); ++k) {
      const auto here = peek(pool.make(ExprOp::Equal, known.shape[k], (*shape)[k]));
      same = here && here->num != 0;
      if (same && !agree((*shape)[k], known.shape[k], path, a.range, weight.range)) return false;
    }
    if (!same) {
      std::string wanted;
      for (const ExprId dim : *shape) wanted += (wanted.empty() ? "" : ", ") + pool.str(dim);
      sink.report(diag::weight_shapes_differ, a.range, path, "[" + wanted + "]", shapeText(pool, graph, id))
          .label(weight.range, "declared here");
      return false;
    }
    if (const auto newest = owned.latest.find(index(known.storage)); newest != owned.latest.end()) id = newest->second;
  } else {
    std::optional<Init> init = readInit(weight.init);
    if (!init) return false;
    id = builder.addTensor(weight.name.text, *dtype, std::move(*shape), weight.range);
    Storage& storage = graph[graph[id].storage];
    storage.path = path;
    storage.init = std::move(*init);
    if (phase() == Phase::Optimizer) {
      storage.kind = StorageClass::State;
      graph.states.push_back(id);
    } else if (weight.isBuffer) {
      storage.kind = StorageClass::Buffer;
      graph.buffers.push_back(id);
    } else {
      storage.kind = StorageClass::Weight;
      graph.weights.push_back({id, kNoTensor, kNoTensor});
    }
    owned.weightByPath.emplace(path, id);
  }
  a.frame.define(weight.name.text, Value::indexed(ValueKind::Tensor, index(id)), weight.name.range);
  a.frame.locals.back().isBuffer = weight.isBuffer;
  a.labels.emplace_back(weight.name.text, std::move(labels));
  return true;
}

bool Elaborator::weightStatement(const ast::WeightStmt& statement) {
  if (now.current == nullptr) return Evaluator::weightStatement(statement);
  return makeWeight(*now.current, statement);
}

/// `running = value`: the value is written into the buffer's own storage by the operator that makes it.
bool Elaborator::assignBuffer(Local& local, Value value, SrcRange range) {
  if (!value.is(ValueKind::Tensor)) {
    wrongKind(range, "a buffer", "a tensor", value);
    return false;
  }
  if (value.id == local.value.id) return true;
  const auto old = static_cast<TensorId>(local.value.id);
  auto made = static_cast<TensorId>(value.id);
  replay.noteWritten(made);
  if (graph[old].shape.size() != graph[made].shape.size()) {
    fail(diag::rank_mismatch, range, local.name, now.current->decl->name.text, graph[old].shape.size(), graph[made].shape.size());
    return false;
  }
  for (std::size_t k = 0; k < graph[old].shape.size(); ++k) {
    if (!agree(graph[made].shape[k], graph[old].shape[k], std::string(local.name), range, local.range)) return false;
  }
  const OpId producer = graph[made].producer;
  const bool own = producer != kNoOp && graph[producer].kind != OpKind::View &&
                   graph[graph[made].storage].kind == StorageClass::Activation &&
                   index(producer) + 1 == graph.ops.size();  // so nothing can have read it yet
  if (!own) {
    const Value copy = copyOf(made, range);
    if (copy.isPoison()) return false;
    made = static_cast<TensorId>(copy.id);
  }
  replay.noteMoved(graph.ops.size());
  graph[made].storage = graph[old].storage;
  owned.latest[index(graph[old].storage)] = made;
  local.value = Value::indexed(ValueKind::Tensor, index(made));
  return true;
}

}  // namespace tbem::graph
