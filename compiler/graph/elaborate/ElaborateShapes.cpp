// Shapes: names of dimensions bind and agree, results get theirs, conditions become obligations.
#include "compiler/graph/elaborate/Elaborator.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Walk.h"

#include <algorithm>

namespace tbem::graph {

namespace {
/// Where the one `..s` of a shape stands, or the number of dimensions.
std::size_t spliceAt(const ast::TensorType& type) {
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    if (type.dims[i]->kind == ast::NodeKind::Splice) return i;
  }
  return type.dims.size();
}
/// The dimension's name, a view of the syntax tree; empty for another expression.
std::string_view labelOf(const ast::Expr& dim) {
  const auto* name = ast::dynCast<ast::NameRef>(&dim);
  return name != nullptr ? std::string_view(name->name.text) : std::string_view();
}
}  // namespace

std::string dtypeName(tbem_dtype dtype) { return std::string(sema::kDTypeNames[static_cast<std::size_t>(dtype)]); }

std::string shapeText(const sema::ExprPool& pool, const Graph& graph, TensorId tensor) {
  std::string text;
  for (const ExprId dim : graph[tensor].shape) text += (text.empty() ? "" : ", ") + pool.str(dim);
  return "[" + text + "]";
}

std::string shapeText(const Graph& graph, TensorId tensor, const sema::Values& values) {
  std::string text;
  for (const ExprId dim : graph[tensor].shape) {
    text += (text.empty() ? "" : ", ") + (values.errorOf(dim) == sema::EvalError::None ? values[dim].str() : std::string("?"));
  }
  return "[" + text + "]";
}

std::optional<tbem_dtype> Elaborator::dtypeFromType(Activation& a, const ast::TensorType& type) {
  if (type.dtype.empty()) return a.dtype;
  if (const int known = sema::dtypeIndex(type.dtype.text); known >= 0) return static_cast<tbem_dtype>(known);
  if (const Local* local = a.frame.find(type.dtype.text); local != nullptr && local->value.is(ValueKind::DType)) {
    return static_cast<tbem_dtype>(local->value.id);
  }
  fail(diag::unknown_type, type.dtype.range, type.dtype.text);
  return std::nullopt;
}

bool Elaborator::checkType(Activation& a, tbem_dtype wanted, TensorId tensor, std::string_view name) {
  const tbem_dtype found = graph[tensor].dtype;
  if (found == wanted) return true;
  fail(diag::dtype_mismatch, a.range, name, a.decl->name.text, dtypeName(wanted), dtypeName(found));
  if (Diagnostic* const report = told(diag::dtype_mismatch, a.range))
    report->note("declare it `" + dtypeName(wanted) + "[...]`, or make one of it: `cast(..., to: " + dtypeName(wanted) + ")`");
  return false;
}

bool Elaborator::bindShape(Activation& a, const ast::TensorType& type, TensorId tensor, std::string_view name, Labels& labels) {
  const std::optional<tbem_dtype> dtype = dtypeFromType(a, type);
  if (!dtype || !checkType(a, *dtype, tensor, name)) return false;
  const std::vector<ExprId> shape = graph[tensor].shape;
  const std::size_t splice = spliceAt(type);
  const bool open = splice < type.dims.size();
  const std::size_t fixed = type.dims.size() - (open ? 1 : 0);
  if (open ? shape.size() < fixed : shape.size() != fixed) {
    sink.report(diag::rank_mismatch, a.range, name, a.decl->name.text, (open ? "at least " : "") + std::to_string(fixed),
                std::to_string(shape.size()) + ": " + shapeText(pool, graph, tensor))
        .label(type.range, "declared here");
    return false;
  }
  const std::size_t spread = shape.size() - fixed;
  labels.reserve(shape.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    const ast::Expr& dim = *type.dims[i];
    if (i == splice) {
      const ast::Expr& inner = *ast::cast<ast::Splice>(dim).value;
      const std::string_view word = labelOf(inner);
      std::vector<Value> part;
      part.reserve(spread);
      for (std::size_t k = 0; k < spread; ++k) {
        part.push_back(Value::number(shape[at + k]));
        labels.push_back(word.empty() ? std::string() : std::string(word) + "#" + std::to_string(k));
      }
      if (!word.empty() && a.frame.find(word) == nullptr) {
        a.frame.define(word, Value::list(std::move(part)), inner.range);
      } else {
        const Value known = evaluate(inner);
        const auto wanted = elements(known, inner.range);
        if (!wanted) return false;
        if (wanted->size() != spread) {
          sink.report(diag::rank_mismatch, a.range, name, a.decl->name.text, std::to_string(fixed + wanted->size()),
                      std::to_string(shape.size()) + ": " + shapeText(pool, graph, tensor))
              .label(type.range, "declared here");
          return false;
        }
        for (std::size_t k = 0; k < spread; ++k) {
          if (shape[at + k] != (*wanted)[k].expr &&
              !agree(shape[at + k], (*wanted)[k].expr,
                     word.empty() ? std::string() : std::string(word) + "[" + std::to_string(k) + "]", a.range, inner.range))
            return false;
        }
      }
      at += spread;
      continue;
    }
    const std::string_view word = labelOf(dim);
    labels.emplace_back(word);
    if (!word.empty() && a.frame.find(word) == nullptr) {
      a.frame.define(word, Value::number(shape[at]), dim.range);
    } else {
      const Value wanted = evaluate(dim);
      if (wanted.isPoison()) return false;
      if (!wanted.is(ValueKind::Number)) {
        wrongKind(dim.range, "a dimension", "an int", wanted);
        return false;
      }
      if (shape[at] != wanted.expr &&
          !agree(shape[at], wanted.expr, word.empty() ? std::string(name) + "[" + std::to_string(at) + "]" : std::string(word),
                 a.range, dim.range))
        return false;
    }
    ++at;
  }
  return true;
}

std::optional<std::vector<ExprId>> Elaborator::shapeFromType(Activation& a, const ast::TensorType& type, Labels& labels,
                                                             const std::function<std::string()>& owner) {
  std::vector<ExprId> shape;
  shape.reserve(type.dims.size());
  labels.reserve(type.dims.size());
  for (const ast::Expr* dim : type.dims) {
    const bool isSplice = dim->kind == ast::NodeKind::Splice;
    const ast::Expr& inner = isSplice ? *ast::cast<ast::Splice>(*dim).value : *dim;
    const std::string_view word = labelOf(inner);
    const auto isDefined = [&] {
      if (a.frame.find(word) != nullptr) return true;
      const sema::Resolved top = program.resolve(*a.frame.module, word);
      return top.decl != nullptr && top.decl->kind == ast::NodeKind::Constant;
    };
    if (!word.empty() && !isDefined()) {
      fail(diag::undefined_dimension, inner.range, word, owner());
      return std::nullopt;
    }
    const Value value = evaluate(inner);
    if (value.isPoison()) return std::nullopt;
    if (isSplice) {
      const auto all = elements(value, inner.range);
      if (!all) return std::nullopt;
      for (std::size_t k = 0; k < all->size(); ++k) {
        if (!(*all)[k].is(ValueKind::Number)) {
          wrongKind(inner.range, "a dimension", "an int", (*all)[k]);
          return std::nullopt;
        }
        shape.push_back((*all)[k].expr);
        labels.push_back(word.empty() ? std::string() : std::string(word) + "#" + std::to_string(k));
      }
      continue;
    }
    if (!value.is(ValueKind::Number)) {
      wrongKind(inner.range, "a dimension", "an int", value);
      return std::nullopt;
    }
    shape.push_back(value.expr);
    labels.emplace_back(word);
  }
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::optional<Rational> here = peek(shape[k]);
    if (!here || (here->isInt() && here->num >= 1)) continue;
    const Diag kind = here->isInt()           ? diag::dimension_not_positive
                      : here->isBeyondWhole() ? diag::number_overflow
                                              : diag::dimension_fractional;
    const bool fresh = told(kind, a.range) == nullptr;
    const std::string symbolic = pool.str(shape[k]);
    if (here->isInt())
      failAt(shape[k], kind, a.range, a.decl->name.text, here->num, symbolic);
    else if (here->isBeyondWhole())
      failAt(shape[k], kind, a.range, symbolic, sema::kWholeRange);
    else
      failAt(shape[k], kind, a.range, a.decl->name.text, symbolic, here->str());
    if (fresh) told(kind, a.range)->label(type.range, "this shape");
    return std::nullopt;
  }
  return shape;
}

bool Elaborator::agree(ExprId a, ExprId b, const std::string& name, SrcRange range, SrcRange there) {
  if (a == b) return true;
  const ExprId same = pool.make(ExprOp::Equal, a, b);
  if (const auto known = pool.constantValue(same); known && known->num != 0) return true;
  Obligation obligation;
  obligation.kind = Obligation::Kind::Dimension;
  obligation.condition = same;
  obligation.text = name;
  obligation.range = there;
  obligation.use = range;
  obligation.subject = now.current != nullptr ? now.current->decl->name.text : "";
  obligation.bindings = {{"here", a}, {"there", b}};
  obligation.culprit = now.current != nullptr ? now.current->culprit : kNoTensor;
  // Where no declared shape says so, an element-wise body does: then the shapes of all its tensors.
  if (now.current != nullptr && there.begin == now.current->decl->name.range.begin) {
    for (const ast::Parameter& tensor : now.current->decl->tensors) {
      if (const Local* local = now.current->frame.find(tensor.name.text)) bindShapes(tensor.name.text, local->value, obligation);
    }
  }
  const std::optional<Rational> here = peek(same);
  if (here && here->num == 0) {
    sema::Values values;
    pool.extend(values, assignment);
    ++mistakes;
    reportViolation(session, out, obligation, values, levelsFor(same));
    return false;
  }
  graph.obligations.push_back(std::move(obligation));
  return true;
}

std::vector<std::pair<std::string, std::string>> Elaborator::levelsFor(ExprId condition) const {
  std::vector<std::pair<std::string, std::string>> chosen;
  const std::vector<sema::SymbolId> symbols = pool.symbolsOf(condition);
  for (const auto& level : levels) {
    const auto named = [&](sema::SymbolId symbol) { return pool[symbol].name == level.first; };
    if (std::any_of(symbols.begin(), symbols.end(), named) || std::any_of(forced.begin(), forced.end(), named) ||
        std::find(steering.begin(), steering.end(), level.first) != steering.end())
      chosen.push_back(level);
  }
  return chosen;
}

// ---- Conditions -------------------------------------------------------------------------------------------------------

/// The dimensions of a tensor, or of each in a list, all by the name `shape(x)` or `shape(xs[0])`.
void Elaborator::bindShapes(std::string_view name, const Value& value, Obligation& obligation) const {
  if (value.is(ValueKind::List)) {
    for (std::size_t i = 0; i < value.items.size(); ++i)
      bindShapes(std::string(name) + "[" + std::to_string(i) + "]", value.items[i], obligation);
  }
  if (!value.is(ValueKind::Tensor)) return;
  const std::string word = "shape(" + std::string(name) + ")";
  const auto isKnown = [&](const auto& binding) { return binding.first == word; };
  if (std::any_of(obligation.bindings.begin(), obligation.bindings.end(), isKnown)) return;
  for (const ExprId dim : graph[static_cast<TensorId>(value.id)].shape) obligation.bindings.emplace_back(word, dim);
}

/// The numbers that a condition mentions, by name: `h`, `pad[0]`, all of `kernel` in `min(kernel)`; the shapes of tensors.
void Elaborator::collectBindings(const ast::Expr& text, Obligation& obligation) const {
  const auto add = [&](std::string word, ExprId value) {
    for (const auto& [known, expr] : obligation.bindings)
      if (known == word) return;
    obligation.bindings.emplace_back(std::move(word), value);
  };
  const auto localOf = [&](const ast::Expr& expr) -> const Local* {
    const auto* name = ast::dynCast<ast::NameRef>(&expr);
    return name != nullptr && frame != nullptr ? frame->find(name->name.text) : nullptr;
  };
  std::vector<const ast::Expr*> indexed;
  sema::forEachInside(text, [&](const ast::Expr& inner) {
    const auto* element = ast::dynCast<ast::Index>(&inner);
    const auto* number =
        element != nullptr && element->items.size() == 1 ? ast::dynCast<ast::Number>(element->items.front()) : nullptr;
    const Local* list = number != nullptr ? localOf(*element->object) : nullptr;
    if (list != nullptr && list->value.is(ValueKind::List)) {
      const auto at = Rational::parse(number->text);
      if (at && at->isInt() && at->num >= 0 && static_cast<std::size_t>(at->num) < list->value.items.size()) {
        indexed.push_back(element->object);
        const Value& item = list->value.items[static_cast<std::size_t>(at->num)];
        if (item.is(ValueKind::Number)) add(std::string(list->name) + "[" + number->text + "]", item.expr);
      }
      return;
    }
    const Local* local = localOf(inner);
    if (local == nullptr || std::find(indexed.begin(), indexed.end(), &inner) != indexed.end()) return;
    if (local->value.is(ValueKind::Number)) add(std::string(local->name), local->value.expr);
    bindShapes(local->name, local->value, obligation);
    if (!local->value.is(ValueKind::List)) return;
    for (std::size_t i = 0; i < local->value.items.size(); ++i) {
      const Value& item = local->value.items[i];
      if (item.is(ValueKind::Number)) add(std::string(local->name) + "[" + std::to_string(i) + "]", item.expr);
    }
  });
}

bool Elaborator::require(sema::Requirement kind, ExprId condition, const ast::Expr& text, SrcRange use, std::string_view subject,
                         const std::string& message) {
  const auto known = pool.constantValue(condition);
  if (known && known->num != 0) return true;
  Obligation obligation;
  switch (kind) {
    case sema::Requirement::Pre:
    case sema::Requirement::Domain:
      obligation.kind = Obligation::Kind::Pre;
      break;
    case sema::Requirement::Post:
      obligation.kind = Obligation::Kind::Post;
      break;
    case sema::Requirement::Requires:
      obligation.kind = Obligation::Kind::Requires;
      break;
    case sema::Requirement::RequiresOfResult:
      obligation.kind = Obligation::Kind::RequiresOfResult;
      break;
    case sema::Requirement::Assert:
      obligation.kind = Obligation::Kind::Assert;
      break;
  }
  obligation.condition = condition;
  obligation.text = sourceText(session.sources, text.range);
  obligation.range = text.range;
  obligation.use = use;
  obligation.subject = std::string(subject);
  obligation.message = message;
  obligation.culprit = now.current != nullptr ? now.current->culprit : kNoTensor;
  collectBindings(text, obligation);
  const std::optional<Rational> here = peek(condition);
  if (!here || here->num == 0) {
    sema::Values values;
    pool.extend(values, assignment);
    ++mistakes;
    reportViolation(session, out, obligation, values, levelsFor(condition));
    return false;
  }
  graph.obligations.push_back(std::move(obligation));
  return true;
}

}  // namespace tbem::graph
