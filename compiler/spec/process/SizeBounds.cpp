#include "compiler/spec/process/SizeBounds.h"

#include "compiler/sema/Walk.h"

#include <algorithm>
#include <vector>

namespace tbem::spec {

namespace {
using ast::BinaryOp;

bool isCollection(const ast::Type* type) { return type->kind == ast::NodeKind::ListType; }

/// The word of a call of a name by position, and its arguments; empty where it is none.
std::string_view callee(const ast::Expr& expr) {
  const auto* call = ast::dynCast<ast::Call>(&expr);
  const auto* word = call != nullptr ? ast::dynCast<ast::NameRef>(call->callee) : nullptr;
  const bool plain = word != nullptr && std::all_of(call->arguments.begin(), call->arguments.end(),
                                                    [](const auto& one) { return one.name.empty() && one.value != nullptr; });
  return plain ? std::string_view(word->name.text) : std::string_view();
}
const ast::Expr& argument(const ast::Expr& expr, std::size_t i) { return *ast::cast<ast::Call>(expr).arguments[i].value; }
std::size_t arguments(const ast::Expr& expr) { return ast::cast<ast::Call>(expr).arguments.size(); }

bool isName(const ast::Expr& expr) { return expr.kind == ast::NodeKind::NameRef || expr.kind == ast::NodeKind::Old; }

/// The largest sum and product of this folder stay far from the ends of 64 bits.
std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  if (!a || !b || *a > kMost || *b > kMost || *a < -kMost || *b < -kMost) return std::nullopt;
  return *a + *b;
}
}  // namespace

SizeBounds::SizeBounds(const ast::Process& process, Highest given) : highest(std::move(given)) {
  std::vector<std::string> before;
  for (const auto& port : process.inputs)
    for (const ast::Parameter& one : port)
      if (isCollection(one.type)) before.push_back(one.name.text);
  for (const auto& port : process.outputs)
    for (const ast::Parameter& one : port)
      if (isCollection(one.type)) written.push_back(one.name.text);
  for (const ast::Process::External& one : process.externals) {
    if (!isCollection(one.type)) continue;
    before.push_back(one.name.text);
    if (one.writes) written.push_back(one.name.text);
  }
  read(process.pre, before, false);
  read(process.post, written, true);
}

std::optional<std::int64_t> SizeBounds::find(const Bounds& bounds, const std::string& name) {
  const auto found = bounds.find(name);
  return found == bounds.end() ? std::nullopt : std::optional(found->second);
}

/// A bound may rest on another: until nothing is added.
void SizeBounds::read(const ast::Expr* condition, const std::vector<std::string>& names, bool isPost) {
  if (condition == nullptr) return;
  inPost = isPost;
  Bounds& bounds = isPost ? outputs : inputs;
  for (bool more = true; more;) {
    more = false;
    for (const std::string& name : names) {
      if (bounds.count(name) != 0) continue;
      const Found found = inside(*condition, name);
      if (!found.bound) continue;
      bounds[name] = std::max<std::int64_t>(0, *found.bound);
      more = true;
    }
  }
  for (const std::string& name : names) {
    if (const auto bound = ofElements(*condition, name))
      (isPost ? insideOutputs : insideInputs)[name] = std::max<std::int64_t>(0, *bound);
  }
}

/// What every element of `name` has at most; nothing where something else is said of them before.
std::optional<std::int64_t> SizeBounds::ofElements(const ast::Expr& expr, const std::string& name) const {
  const auto* node = ast::dynCast<ast::Binary>(&expr);
  if (node != nullptr && (node->op == BinaryOp::And || node->op == BinaryOp::Or)) {
    const std::optional<std::int64_t> left = ofElements(*node->left, name);
    if (node->op == BinaryOp::And) {
      if (left || (mentions(*node->left, name) && !isOfSizes(*node->left))) return left;
      return ofElements(*node->right, name);
    }
    const std::optional<std::int64_t> right = ofElements(*node->right, name);
    return left && right ? std::max(left, right) : std::nullopt;
  }
  const auto* all = ast::dynCast<ast::Quantifier>(&expr);
  if (all == nullptr || !all->universal || all->variables.size() != 1) return std::nullopt;
  const ast::Expr& domain = *all->variables.front().domain;
  const std::string& element = all->variables.front().name.text;
  const auto isNamed = [](const ast::Expr& one, const std::string& wanted) {
    const auto* word = ast::dynCast<ast::NameRef>(&one);
    return word != nullptr && word->name.text == wanted;
  };
  const bool isSet = isNamed(domain, name);
  const bool isOfName = !callee(domain).empty() && arguments(domain) == 1 && isNamed(argument(domain, 0), name);
  if (isSet || (isOfName && callee(domain) == "elems"))
    return sizeIn(*all->body, [&](const ast::Expr& one) { return isNamed(one, element); });
  if (!isOfName || callee(domain) != "inds") return std::nullopt;
  return sizeIn(*all->body, [&](const ast::Expr& one) {
    return callee(one) == name && arguments(one) == 1 && isNamed(argument(one, 0), element);
  });
}

/// `len(x) <= e` of a subject x, by itself or as the first of several conditions.
std::optional<std::int64_t> SizeBounds::sizeIn(const ast::Expr& body,
                                               const std::function<bool(const ast::Expr&)>& isSubject) const {
  const auto* node = ast::dynCast<ast::Binary>(&body);
  if (node == nullptr) return std::nullopt;
  if (node->op == BinaryOp::And) return sizeIn(*node->left, isSubject);
  for (const bool turned : {false, true}) {
    const ast::Expr& left = turned ? *node->right : *node->left;
    const bool isSize = (callee(left) == "len" || callee(left) == "card") && arguments(left) == 1;
    if (isSize && isSubject(argument(left, 0))) return sizeBelow(*node, turned);
  }
  return std::nullopt;
}

/// What the other side of a comparison of a size bounds it by.
std::optional<std::int64_t> SizeBounds::sizeBelow(const ast::Binary& expr, bool turned) const {
  const bool strict = expr.op == (turned ? BinaryOp::Greater : BinaryOp::Less);
  const bool atMost = strict || expr.op == BinaryOp::Equal || expr.op == (turned ? BinaryOp::GreaterEqual : BinaryOp::LessEqual);
  if (!atMost) return std::nullopt;
  return sum(numberAtMost(turned ? *expr.left : *expr.right), strict ? -1 : 0);
}

bool SizeBounds::mentions(const ast::Expr& expr, const std::string& name) const {
  bool found = false;
  sema::forEachInside(expr, [&](const ast::Expr& inner) {
    const auto* word = ast::dynCast<ast::NameRef>(&inner);
    const auto* old = ast::dynCast<ast::Old>(&inner);
    found = found || (word != nullptr && word->name.text == name) || (old != nullptr && !inPost && old->name.text == name);
  });
  return found;
}

/// Whether nothing but numbers of elements is read, and no quotient, so that it has a value whatever they are.
bool SizeBounds::isOfSizes(const ast::Expr& expr) {
  if (callee(expr) == "len" || callee(expr) == "card") return arguments(expr) == 1 && isName(argument(expr, 0));
  if (const auto* node = ast::dynCast<ast::Binary>(&expr)) {
    const bool divides = node->op == BinaryOp::Divide || node->op == BinaryOp::FloorDiv || node->op == BinaryOp::CeilDiv ||
                         node->op == BinaryOp::Mod || node->op == BinaryOp::Rem || node->op == BinaryOp::Power;
    return !divides && isOfSizes(*node->left) && isOfSizes(*node->right);
  }
  if (const auto* unary = ast::dynCast<ast::Unary>(&expr)) return isOfSizes(*unary->operand);
  return expr.kind == ast::NodeKind::Number || expr.kind == ast::NodeKind::Bool || isName(expr);
}

SizeBounds::Found SizeBounds::inside(const ast::Expr& expr, const std::string& name) const {
  if (!mentions(expr, name)) return {};
  if (const auto* choice = ast::dynCast<ast::IfExpr>(&expr)) {
    if (mentions(*choice->condition, name) || choice->otherwise == nullptr) return {true, {}};
    const Found then = inside(*choice->then, name), otherwise = inside(*choice->otherwise, name);
    if (!then.bound || !otherwise.bound) return {true, {}};
    return {true, std::max(*then.bound, *otherwise.bound)};
  }
  const auto* node = ast::dynCast<ast::Binary>(&expr);
  if (node == nullptr) return {true, {}};
  if (node->op == BinaryOp::And) {
    const Found left = inside(*node->left, name);
    return left.bound || (left.mentions && !isOfSizes(*node->left)) ? left : inside(*node->right, name);
  }
  if (node->op == BinaryOp::Or) {
    const Found left = inside(*node->left, name), right = inside(*node->right, name);
    if (!left.bound || !right.bound) return {true, {}};
    return {true, std::max(*left.bound, *right.bound)};
  }
  return {true, compared(*node, name)};
}

/// `len(name) <= e`, `card(name) = e`, `name = conc(s, t)`, and the same turned round.
std::optional<std::int64_t> SizeBounds::compared(const ast::Binary& expr, const std::string& name) const {
  for (const bool turned : {false, true}) {
    const ast::Expr& left = turned ? *expr.right : *expr.left;
    const ast::Expr& right = turned ? *expr.left : *expr.right;
    if (mentions(right, name)) continue;
    const bool isSize = (callee(left) == "len" || callee(left) == "card") && arguments(left) == 1;
    const ast::Expr& subject = isSize ? argument(left, 0) : left;
    const auto* word = ast::dynCast<ast::NameRef>(&subject);
    const auto* old = ast::dynCast<ast::Old>(&subject);
    if ((word == nullptr || word->name.text != name) && (old == nullptr || inPost || old->name.text != name)) continue;
    if (!isSize) return expr.op == BinaryOp::Equal ? sizeAtMost(right) : std::nullopt;
    return sizeBelow(expr, turned);
  }
  return std::nullopt;
}

std::optional<std::int64_t> SizeBounds::numberAtMost(const ast::Expr& expr) const {
  if (const auto* number = ast::dynCast<ast::Number>(&expr)) {
    const bool digits = number->text.size() < 10 && number->text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::optional<std::int64_t>(std::stoll(number->text)) : std::nullopt;
  }
  if (const auto* word = ast::dynCast<ast::NameRef>(&expr)) return highest(word->name.text);
  if ((callee(expr) == "len" || callee(expr) == "card") && arguments(expr) == 1) return sizeAtMost(argument(expr, 0));
  const auto* node = ast::dynCast<ast::Binary>(&expr);
  if (node == nullptr) return std::nullopt;
  if (node->op == BinaryOp::Add) return sum(numberAtMost(*node->left), numberAtMost(*node->right));
  const auto* taken = node->op == BinaryOp::Sub ? ast::dynCast<ast::Number>(node->right) : nullptr;
  if (taken == nullptr) return std::nullopt;
  const std::optional<std::int64_t> less = numberAtMost(*taken);
  return less ? sum(numberAtMost(*node->left), -*less) : std::nullopt;
}

std::optional<std::int64_t> SizeBounds::sizeAtMost(const ast::Expr& expr) const {
  if (const auto* word = ast::dynCast<ast::NameRef>(&expr)) {
    const bool isOutput = inPost && std::find(written.begin(), written.end(), word->name.text) != written.end();
    return isOutput ? find(outputs, word->name.text) : find(inputs, word->name.text);
  }
  if (const auto* old = ast::dynCast<ast::Old>(&expr)) return find(inputs, old->name.text);
  const auto known = [](const std::vector<const ast::Expr*>& items) -> std::optional<std::int64_t> {
    for (const ast::Expr* item : items) {
      if (item->kind == ast::NodeKind::Splice || item->kind == ast::NodeKind::Range) return std::nullopt;
    }
    return static_cast<std::int64_t>(items.size());
  };
  if (const auto* list = ast::dynCast<ast::List>(&expr)) return known(list->items);
  if (const auto* set = ast::dynCast<ast::Set>(&expr)) return known(set->items);
  const std::string_view word = callee(expr);
  if (word.empty() || arguments(expr) == 0) return std::nullopt;
  if (word == "tl" || word == "elems" || word == "inds" || word == "diff" || word == "inter")
    return sizeAtMost(argument(expr, 0));
  if (arguments(expr) == 1) {  // an element: `rows(1)`, `hd(rows)`
    const auto* of = word == "hd" ? ast::dynCast<ast::NameRef>(&argument(expr, 0)) : nullptr;
    const std::string name = of != nullptr ? of->name.text : std::string(word);
    const bool isOutput = inPost && std::find(written.begin(), written.end(), name) != written.end();
    if (const auto inside = find(isOutput ? insideOutputs : insideInputs, name)) return inside;
  }
  if ((word == "conc" || word == "union") && arguments(expr) == 2)
    return sum(sizeAtMost(argument(expr, 0)), sizeAtMost(argument(expr, 1)));
  return std::nullopt;
}

}  // namespace tbem::spec
