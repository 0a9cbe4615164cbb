// Leaves: operators that are native or element-wise, their results, attributes and FLOPs.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/elaborate/Elaborator.h"
#include "compiler/graph/ir/Opaque.h"
#include "compiler/graph/ir/Views.h"
#include "compiler/support/Bug.h"
#include "runtime/include/tbem/primitives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::graph {

namespace {
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  result.reserve(static_cast<std::size_t>(std::ranges::count(text, ' ')) + 1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) result.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string countText(std::size_t least, std::size_t most) {
  return (least == most ? std::to_string(most) : std::to_string(least) + " to " + std::to_string(most)) + " tensors";
}
}  // namespace

Value Elaborator::runLeaf(Activation& a) {
  std::vector<const ast::Expr*> remaining;
  if (!definePosts(a, remaining)) return {};
  if (!a.decl->updates.empty()) return runUpdates(a) ? Value::none() : Value{};
  std::vector<TensorId> results;
  if (!makeResults(a, results)) return {};
  std::vector<Value> made;
  made.reserve(results.size());
  for (const TensorId result : results) made.push_back(Value::indexed(ValueKind::Tensor, index(result)));
  if (!checkPosts(a, remaining, made)) return {};
  if (results.empty()) return fail(diag::no_result, a.use, a.decl->name.text);
  const bool own = a.decl->nativeSymbol != nullptr || isOpaque(*a.decl);
  const bool good = own ? runOwn(a, results) : a.decl->native != nullptr ? runNative(a, results) : runElementwise(a, results);
  if (!good) return {};
  return made.size() == 1 ? std::move(made.front()) : Value::tuple(std::move(made));
}

bool Elaborator::makeResults(Activation& a, std::vector<TensorId>& results) {
  for (const ast::Result& declared : a.decl->results) {
    const auto* type = ast::dynCast<ast::TensorType>(declared.type);
    if (type == nullptr) {
      fail(diag::wrong_tensor, declared.range, "the result of an operator", "a tensor type");
      return false;
    }
    Labels labels;
    std::optional<std::vector<ExprId>> shape =
        shapeFromType(a, *type, labels, [&] { return "the result of `" + a.decl->name.text + "`"; });
    const std::optional<tbem_dtype> dtype = dtypeFromType(a, *type);
    if (!shape || !dtype) return false;
    const std::string name = declared.name.empty() ? "y" : declared.name.text;
    const TensorId id = builder.addTensor(name, *dtype, std::move(*shape), a.range);
    results.push_back(id);
    if (!declared.name.empty()) {
      a.frame.define(declared.name.text, Value::indexed(ValueKind::Tensor, index(id)), declared.range);
      a.labels.emplace_back(declared.name.text, std::move(labels));
    }
  }
  return true;
}

/// What the declaration says is the operator's count.
bool Elaborator::countFlops(Activation& a, Op& op) {
  std::vector<FlopPart> counted;
  for (const ast::Part& part : a.decl->flops) {
    constexpr std::array<std::string_view, 14> kParts = {"mac", "add",  "mul",  "divide", "cmp", "exp", "log",
                                                         "pow", "sqrt", "tanh", "erf",    "sin", "cos", "floor"};
    if (std::ranges::find(kParts, part.name.text) == kParts.end()) {
      fail(diag::wrong_kind, part.name.range, "`flops`", fmt::format("parts named {}", fmt::join(kParts, ", ")),
           "`" + part.name.text + "`");
      return false;
    }
    const Value value = evaluate(*part.value);
    if (value.isPoison()) return false;
    if (const auto count = value.is(ValueKind::Number) ? peek(value.expr) : std::nullopt; count && count->num < 0) {
      failAt(value.expr, diag::wrong_kind, part.value->range, "`" + part.name.text + "` of `flops`", "a number of 0 or more",
             count->str());
      return false;
    }
    if (!value.is(ValueKind::Number)) {
      wrongKind(part.value->range, "a number of FLOPs", "a number", value);
      return false;
    }
    if (pool.constantValue(value.expr) == Rational::of(0)) continue;
    counted.push_back({part.name.text, value.expr});
  }
  op.flops = std::move(counted);
  return true;
}

// ---- Native -----------------------------------------------------------------------------------------------------------

/// An attribute's value: given by name in the `native` clause, else the declaration's own of that name.
std::optional<Value> Elaborator::nativeAttribute(Activation& a, std::string_view name) {
  for (const ast::Argument& argument : a.decl->native->arguments) {
    if (argument.name.text == name && argument.value != nullptr) return evaluate(*argument.value);
  }
  const Local* local = a.frame.find(name);
  return local != nullptr ? std::optional<Value>(local->value) : std::nullopt;
}

bool Elaborator::nativeAttributes(Activation& a, std::string_view table, std::string_view scalars, Op& op) {
  const std::vector<std::string_view> attributeWords = words(table), scalarWords = words(scalars);
  for (const ast::Argument& argument : a.decl->native->arguments) {
    const auto isNamed = [&](std::string_view word) { return word.substr(0, word.find('[')) == argument.name.text; };
    if (argument.name.empty() || std::ranges::any_of(attributeWords, isNamed) || std::ranges::any_of(scalarWords, isNamed))
      continue;
    fail(diag::unknown_argument, argument.range, sourceText(session.sources, a.decl->native->callee->range), argument.name.text);
    return false;
  }
  std::vector<Attribute> attributes;
  attributes.reserve(attributeWords.size());
  for (const std::string_view word : attributeWords) {
    const std::size_t bracket = std::min(word.find('['), word.size());
    const std::string_view name = word.substr(0, bracket);
    const std::string_view count =
        bracket < word.size() ? word.substr(bracket + 1, word.size() - bracket - 2) : std::string_view("1");
    const std::optional<Value> value = nativeAttribute(a, name);
    if (!value || value->isRuntime()) {
      if (!value || !value->isPoison())
        fail(diag::native_attribute, a.decl->native->range,
             a.decl->native->range.valid() ? sourceText(session.sources, a.decl->native->callee->range) : "", name,
             a.decl->name.text);
      return false;
    }
    Attribute attribute{std::string(name), {}};
    attribute.values.reserve(std::max<std::size_t>(value->items.size(), 1));
    if (value->is(ValueKind::List)) {
      for (const Value& item : value->items) attribute.values.push_back(item.expr);
    } else {
      attribute.values.push_back(value->expr);
    }
    const bool known =
        std::none_of(attribute.values.begin(), attribute.values.end(), [](ExprId e) { return e == sema::kNoExpr; });
    if (!known || (count != "*" && std::to_string(attribute.values.size()) != count)) {
      fail(diag::native_attribute, a.decl->native->range, sourceText(session.sources, a.decl->native->callee->range), word,
           a.decl->name.text);
      return false;
    }
    attributes.push_back(std::move(attribute));
  }
  op.attributes = std::move(attributes);
  for (const std::string_view word : scalarWords) {
    const std::string_view name = word.substr(0, word.find('['));
    const bool isList = name.size() < word.size();
    const std::optional<Value> value = nativeAttribute(a, name);
    if (value && value->isPoison()) return false;
    if (!value) {
      fail(diag::native_attribute, a.decl->native->range, sourceText(session.sources, a.decl->native->callee->range), word,
           a.decl->name.text);
      return false;
    }
    if (!value->is(isList ? ValueKind::List : ValueKind::Number) ||
        !std::ranges::all_of(value->items, [](const Value& item) { return item.is(ValueKind::Number); })) {
      wrongKind(a.decl->native->range, "`" + std::string(name) + "`", isList ? "a list of numbers" : "a number", *value);
      return false;
    }
    if (isList) {  // nameless: no arguments of a step
      for (const Value& item : value->items) op.scalars.push_back(item.expr);
      const ExprId count = pool.constant(static_cast<std::int64_t>(op.scalars.size()));
      const ExprId elements = builder.elementCount(graph[op.outputs.front()].shape);
      if (!agree(elements, count, "elements of " + a.decl->name.text, a.range, a.decl->native->range)) return false;
      continue;
    }
    op.scalars.push_back(value->expr);
    builder.registerScalar((a.path.empty() ? "" : a.path + ".") + std::string(name), value->expr);
  }
  return true;
}

bool Elaborator::runNative(Activation& a, const std::vector<TensorId>& results) {
  const auto* callee = ast::dynCast<ast::NameRef>(a.decl->native->callee);
  const std::string word = callee != nullptr ? callee->name.text : "";
  const bool isView = graph::isView(*a.decl);
  const auto row = std::find_if(std::begin(runtime::kSignatures), std::end(runtime::kSignatures),
                                [&](const runtime::Signature& one) { return one.name == word; });
  if (!isView && row == std::end(runtime::kSignatures)) {
    std::vector<std::string> names;
    names.reserve(std::size(runtime::kSignatures));
    for (const runtime::Signature& one : runtime::kSignatures) names.emplace_back(one.name);
    Diagnostic& d = sink.report(diag::unknown_primitive, a.decl->native->callee->range, word);
    if (const std::string near = nearest(word, names); !near.empty()) d.note("did you mean `" + near + "`?");
    return false;
  }
  Op op;
  op.kind = isView ? OpKind::View : OpKind::Native;
  op.declaration = a.decl->name.text;
  op.outputs = results;
  std::vector<std::string_view> operands = isView ? std::vector<std::string_view>{"x"} : words(row->inputs);
  const auto required = static_cast<std::size_t>(
      std::count_if(operands.begin(), operands.end(), [](std::string_view o) { return !o.ends_with('?'); }));
  std::vector<Value> given;
  for (const ast::Argument& argument : a.decl->native->arguments) {
    if (argument.name.empty()) given.push_back(evaluate(*argument.value));
  }
  if (!isView && row->inputs.ends_with('*') && given.size() == 1 && given.front().is(ValueKind::List)) {
    std::vector<Value> all = given.front().items.take();
    given = std::move(all);
    operands.assign(given.size(), row->inputs);
  }
  const std::size_t outputs = isView ? 1 : words(row->outputs).size();
  if (given.size() < required || given.size() > operands.size() || results.size() != outputs) {
    const bool inputsWrong = results.size() == outputs;
    fail(diag::native_operands, a.decl->native->range, word,
         inputsWrong ? countText(required, operands.size()) : countText(outputs, outputs) + " as results",
         inputsWrong ? given.size() : results.size());
    return false;
  }
  given.resize(operands.size(), Value::none());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool absent = given[i].is(ValueKind::None);
    if (given[i].isPoison()) return false;
    if (!given[i].is(ValueKind::Tensor) && !(absent && operands[i].ends_with('?'))) {
      wrongKind(a.decl->native->range, "`" + std::string(operands[i]) + "` of `" + word + "`", "a tensor", given[i]);
      return false;
    }
    op.inputs.push_back(absent ? kNoTensor : static_cast<TensorId>(given[i].id));
  }
  if (isView) {
    const ExprId before = builder.elementCount(graph[op.inputs.front()].shape);
    const ExprId after = builder.elementCount(graph[results.front()].shape);
    if (!agree(after, before, "elements of " + a.decl->name.text, a.range, a.decl->native->range)) return false;
    graph[results.front()].storage = graph[op.inputs.front()].storage;
    graph[results.front()].dtype = graph[op.inputs.front()].dtype;
  } else {
    op.primitive = static_cast<tbem_primitive>(row - std::begin(runtime::kSignatures));
    if (!nativeAttributes(a, row->attributes, row->scalars, op)) return false;
  }
  if (!countFlops(a, op)) return false;
  addLeaf(std::move(op), a);
  return true;
}

// ---- Element-wise -----------------------------------------------------------------------------------------------------

bool Elaborator::runElementwise(Activation& a, const std::vector<TensorId>& results) {
  std::vector<const ast::Expr*> parts;
  for (const ast::Result& declared : a.decl->results) {
    const auto part = std::find_if(a.decl->elementwise.begin(), a.decl->elementwise.end(),
                                   [&](const ast::Part& one) { return one.name.text == declared.name.text; });
    if (part == a.decl->elementwise.end()) {
      fail(diag::no_result, a.decl->name.range, declared.name.empty() ? a.decl->name.text : declared.name.text);
      return false;
    }
    parts.push_back(part->value);
  }
  const Labels none;
  const Labels* labels = a.labelsOf(a.decl->results.front().name.text);
  std::optional<Op> op = buildElementwise(a, parts, results, labels != nullptr ? *labels : none);
  if (!op) return false;
  op->declaration = a.decl->name.text;
  if (!a.decl->flops.empty() && !countFlops(a, *op)) return false;
  addLeaf(std::move(*op), a);
  return true;
}

}  // namespace tbem::graph
