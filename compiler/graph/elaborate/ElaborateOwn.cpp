// Leaves with code of their own: `native "lib.so:symbol"`, whose function gets what runtime/include/tbem/native.h says; and
// opaque ones, of which nobody has the code.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/elaborate/Elaborator.h"
#include "compiler/graph/ir/Opaque.h"

#include <algorithm>
#include <filesystem>

namespace tbem::graph {

namespace {

/// "lib.so:symbol" of a declaration, its path made relative to the file that holds it. Nothing where it has no such form.
std::optional<OwnCode> ownCodeOf(const ast::String& text, const SourceManager& sources) {
  const std::size_t colon = text.value.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.value.size()) return std::nullopt;
  const Source* source = sources.find(text.range.begin);
  const std::filesystem::path library = text.value.substr(0, colon);
  const std::filesystem::path folder = source != nullptr ? std::filesystem::path(source->name).parent_path() : "";
  return OwnCode{(folder / library).string(), text.value.substr(colon + 1), text.range, sema::kNoExpr};
}

bool isNamed(const ast::Type* type, std::string_view word) {
  const auto* named = ast::dynCast<ast::NamedType>(type);
  return named != nullptr && named->name.text == word;
}

}  // namespace

/// The declaration's parameters in order: whole numbers and truth values as attributes, reals as run-time scalars.
bool Elaborator::ownParameters(Activation& a, Op& op) {
  for (const ast::Parameter& parameter : a.decl->parameters) {
    const std::string& name = parameter.name.text;
    const Value& value = a.frame.find(name)->value;
    const auto refuse = [&] {
      wrongKind(parameter.range, "an operator with its own code", "parameters that are numbers, truth values or lists of int",
                value);
      return false;
    };
    if (value.is(ValueKind::Number) && value.isReal) {
      op.scalars.push_back(value.expr);
      builder.registerScalar((a.path.empty() ? "" : a.path + ".") + name, value.expr);
      continue;
    }
    Attribute attribute{name, {}};
    if (value.is(ValueKind::Number) || value.is(ValueKind::Bool)) {
      attribute.values.push_back(value.expr);
    } else if (value.is(ValueKind::List)) {
      const bool counted = !isNamed(parameter.type, "pair") && !isNamed(parameter.type, "pads");
      if (counted) attribute.values.push_back(pool.constant(static_cast<std::int64_t>(value.items.size())));
      for (const Value& item : value.items) {
        if (!item.is(ValueKind::Number) || item.isReal) return refuse();
        attribute.values.push_back(item.expr);
      }
    } else {
      return refuse();
    }
    op.attributes.push_back(std::move(attribute));
  }
  return true;
}

/// The clause `workspace`, if there is one.
bool Elaborator::ownWorkspace(Activation& a, OwnCode& own) {
  const ast::Expr* declared = a.decl->workspace;
  if (declared == nullptr) return true;
  const Value bytes = evaluate(*declared);
  const bool isBytes = bytes.is(ValueKind::Number) && !bytes.isReal &&
                       (bytes.unit == sema::UnitPowers{} || bytes.unit == sema::UnitPowers{1, 0, 0, 0});
  if (!isBytes) {
    if (!bytes.isPoison())
      fail(diag::wrong_kind, declared->range, "`workspace`", "a number of bytes",
           "`" + std::string(sourceText(session.sources, declared->range)) + "`");
    return false;
  }
  if (const auto count = peek(bytes.expr); count && (count->num < 0 || !count->isInt())) {
    failAt(bytes.expr, diag::wrong_kind, declared->range, "`workspace`", "a whole number of bytes", count->str());
    return false;
  }
  own.workspace = bytes.expr;
  return true;
}

bool Elaborator::runOwn(Activation& a, const std::vector<TensorId>& results) {
  const bool opaque = isOpaque(*a.decl);
  const SrcRange where = opaque ? a.decl->native->range : a.decl->nativeSymbol->range;
  std::optional<OwnCode> own =
      opaque ? OwnCode{"", a.decl->name.text, where, sema::kNoExpr} : ownCodeOf(*a.decl->nativeSymbol, session.sources);
  if (!own) {
    fail(diag::native_symbol, where, a.decl->nativeSymbol->value);
    return false;
  }
  Op op;
  op.kind = OpKind::Native;
  op.own = std::move(*own);
  op.declaration = a.decl->name.text;
  op.outputs = results;
  const auto add = [&](const std::string& name) {
    const Local* local = a.frame.find(name);
    const bool isList = local != nullptr && local->value.is(ValueKind::List);
    if (opaque && isList &&
        std::ranges::all_of(local->value.items, [](const Value& item) { return item.is(ValueKind::Tensor); })) {
      for (const Value& item : local->value.items) op.inputs.push_back(static_cast<TensorId>(item.id));
      return true;
    }
    if (local != nullptr && local->value.is(ValueKind::None)) {
      op.inputs.push_back(kNoTensor);
      return true;
    }
    if (local == nullptr || !local->value.is(ValueKind::Tensor)) {
      fail(diag::not_there_yet, where, "a list of tensors given to an operator's own code is");
      return false;
    }
    op.inputs.push_back(static_cast<TensorId>(local->value.id));
    return true;
  };
  for (const ast::Parameter& tensor : a.decl->tensors) {
    if (!add(tensor.name.text)) return false;
  }
  for (const bool buffers : {false, true}) {
    for (const ast::WeightStmt* weight : a.decl->weights) {
      if (weight->isBuffer == buffers && !add(weight->name.text)) return false;
    }
  }
  // Parameters are what code gets: of an opaque operator they may be anything.
  if (!(opaque || ownParameters(a, op)) || !ownWorkspace(a, op.own) || !countFlops(a, op)) return false;
  addLeaf(std::move(op), a);
  return true;
}

}  // namespace tbem::graph
