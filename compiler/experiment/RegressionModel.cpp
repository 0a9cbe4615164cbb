#include "compiler/experiment/RegressionModel.h"

#include "compiler/diagnostics/tables/Run.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/experiment/Quantities.h"
#include "compiler/sema/Symbolic.h"
#include "compiler/sema/Value.h"
#include "compiler/support/Rational.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

namespace tbem::driver {

using ast::NodeKind;

namespace {

std::optional<std::uint32_t> factorOf(const ast::Name& name, const std::vector<design::Factor>& factors, DiagnosticSink& sink) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < factors.size(); ++i) {
    if (factors[i].name == name.text) return i;
    names.push_back(factors[i].name);
  }
  Diagnostic& diagnostic = sink.report(diag::unknown_factor, name.range, name.text);
  const std::string close = nearest(name.text, names);
  if (!close.empty()) diagnostic.fix(name.range, close, Applicability::Maybe);
  return std::nullopt;
}

constexpr std::int64_t kHighestDegree = 10;

std::optional<std::int64_t> wholeNumber(const ast::Expr* expr) {
  const auto* number = ast::dynCast<ast::Number>(expr);
  if (number == nullptr) return std::nullopt;
  const std::optional<Rational> value = Rational::parse(number->text);
  if (!value || !value->isInt()) return std::nullopt;
  return value->num;
}

using Terms = std::optional<std::vector<design::Term>>;

/// `poly(f, g; degree: d)`.
Terms polyTerms(const ast::Call& call, const std::vector<design::Factor>& factors, DiagnosticSink& sink) {
  std::vector<std::uint32_t> chosen;
  std::int64_t degree = 2;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name.text == "degree") {
      const std::optional<std::int64_t> value = wholeNumber(argument.value);
      if (!value || *value < 1 || *value > kHighestDegree) {
        sink.report(diag::bad_term, argument.range, fmt::format("`degree` is a whole number from 1 to {}", kHighestDegree));
        return std::nullopt;
      }
      degree = *value;
      continue;
    }
    const auto* name = ast::dynCast<ast::NameRef>(argument.value);
    if (name == nullptr || !argument.name.empty()) {
      sink.report(diag::bad_term, argument.range, "`poly` takes factors, then `degree: 2`");
      return std::nullopt;
    }
    const std::optional<std::uint32_t> factor = factorOf(name->name, factors, sink);
    if (!factor) return std::nullopt;
    if (std::ranges::find(chosen, *factor) != chosen.end()) {
      sink.report(diag::argument_twice, name->name.range, name->name.text);
      return std::nullopt;
    }
    chosen.push_back(*factor);
  }
  if (chosen.empty()) {
    sink.report(diag::bad_term, call.range, "`poly` names no factor");
    return std::nullopt;
  }
  return design::poly(factors, chosen, static_cast<std::uint32_t>(degree));
}

Terms termsIn(const ast::Expr& expr, const std::vector<design::Factor>& factors, DiagnosticSink& sink);

Terms productTerms(const ast::Binary& product, const std::vector<design::Factor>& factors, DiagnosticSink& sink) {
  const Terms left = termsIn(*product.left, factors, sink);
  const Terms right = termsIn(*product.right, factors, sink);
  if (!left || !right) return std::nullopt;
  std::vector<design::Term> terms;
  for (const design::Term& a : *left) {
    for (const design::Term& b : *right) terms.push_back(design::multiply(factors, a, b));
  }
  return terms;
}

Terms powerTerms(const ast::Binary& power, const std::vector<design::Factor>& factors, DiagnosticSink& sink) {
  const auto* name = ast::dynCast<ast::NameRef>(power.left);
  const std::optional<std::int64_t> exponent = wholeNumber(power.right);
  if (name == nullptr || !exponent || *exponent < 1 || *exponent > kHighestDegree) {
    sink.report(diag::bad_term, power.range, fmt::format("a power is a factor `**` a whole number from 1 to {}", kHighestDegree));
    return std::nullopt;
  }
  const std::optional<std::uint32_t> factor = factorOf(name->name, factors, sink);
  if (!factor) return std::nullopt;
  return std::vector<design::Term>{{{design::Part{*factor, static_cast<std::uint32_t>(*exponent)}}}};
}

/// What is added, from the left.
std::vector<const ast::Expr*> summandsOf(const ast::Expr& sum) {
  std::vector<const ast::Expr*> summands;
  const ast::Expr* first = &sum;
  for (const auto* inner = ast::dynCast<ast::Binary>(first); inner != nullptr && inner->op == ast::BinaryOp::Add;
       inner = ast::dynCast<ast::Binary>(first)) {
    summands.push_back(inner->right);
    first = inner->left;
  }
  summands.push_back(first);
  std::ranges::reverse(summands);
  return summands;
}

/// A sum of terms. One that is written alone is written once; those of `poly` may be others, too.
Terms sumTerms(std::span<const ast::Expr* const> summands, const std::vector<design::Factor>& factors, DiagnosticSink& sink) {
  std::vector<design::Term> all;
  std::set<std::vector<design::Part>> alone;
  for (const ast::Expr* summand : summands) {
    const Terms terms = termsIn(*summand, factors, sink);
    if (!terms) return std::nullopt;
    if (terms->size() == 1 && !alone.insert(terms->front().parts).second) {
      sink.report(diag::argument_twice, summand->range, design::termText(factors, terms->front()));
      return std::nullopt;
    }
    all.insert(all.end(), terms->begin(), terms->end());
  }
  return all;
}

Terms termsIn(const ast::Expr& expr, const std::vector<design::Factor>& factors, DiagnosticSink& sink) {
  if (const auto* name = ast::dynCast<ast::NameRef>(&expr)) {
    const std::optional<std::uint32_t> factor = factorOf(name->name, factors, sink);
    if (!factor) return std::nullopt;
    return std::vector<design::Term>{{{design::Part{*factor, 1}}}};
  }
  if (const auto* number = ast::dynCast<ast::Number>(&expr); number != nullptr && number->text == "1") {
    return std::vector<design::Term>{{}};
  }
  if (const auto* call = ast::dynCast<ast::Call>(&expr)) {
    const auto* callee = ast::dynCast<ast::NameRef>(call->callee);
    if (callee != nullptr && callee->name.text == "poly") return polyTerms(*call, factors, sink);
  }
  if (const auto* binary = ast::dynCast<ast::Binary>(&expr)) {
    if (binary->op == ast::BinaryOp::Mul) return productTerms(*binary, factors, sink);
    if (binary->op == ast::BinaryOp::Power) return powerTerms(*binary, factors, sink);
    if (binary->op == ast::BinaryOp::Add) return sumTerms(summandsOf(expr), factors, sink);
  }
  sink.report(diag::bad_term, expr.range, "terms are sums of factors, products, powers and `poly(...)`");
  return std::nullopt;
}

/// Exponents of bytes, seconds, joules and FLOPs; a plain number fits any of them.
struct Dimension {
  std::array<int, 4> powers{};
  bool isNumber = false;
};

Dimension dimensionOf(const std::string& name) {
  switch (quantityOf(name)) {
    case report::Quantity::Bytes:
      return {{1, 0, 0, 0}};
    case report::Quantity::Seconds:
      return {{0, 1, 0, 0}};
    case report::Quantity::Joules:
      return {{0, 0, 1, 0}};
    case report::Quantity::Flops:
      return {{0, 0, 0, 1}};
    case report::Quantity::Number:
      return {};
  }
  return {};
}

std::string dimensionText(const Dimension& dimension) {
  std::string text;
  for (std::size_t i = 0; i < sema::kUnitNames.size(); ++i) {
    const int power = dimension.powers[i];
    if (power != 0)
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", sema::kUnitNames[i], power == 1 ? "" : fmt::format("^{}", power));
  }
  return text.empty() ? "a plain number" : text;
}

/// What a response may name, and what it names.
struct ResponseNames {
  std::vector<std::string> known;
  std::vector<std::string> used;
};

std::optional<Dimension> checkPart(const ast::Expr& expr, ResponseNames& names, DiagnosticSink& sink);

std::optional<Dimension> checkBinary(const ast::Binary& binary, ResponseNames& names, DiagnosticSink& sink) {
  const std::optional<Dimension> left = checkPart(*binary.left, names, sink);
  const std::optional<Dimension> right = left ? checkPart(*binary.right, names, sink) : std::nullopt;
  if (!left || !right) return std::nullopt;
  const bool product = binary.op == ast::BinaryOp::Mul || binary.op == ast::BinaryOp::Divide;
  const auto* divisor = ast::dynCast<ast::Number>(binary.right);
  if (binary.op == ast::BinaryOp::Divide && divisor != nullptr && Rational::parse(divisor->text) == Rational{}) {
    sink.report(diag::division_by_zero, divisor->range, divisor->text);
    return std::nullopt;
  }
  if (product) {
    Dimension result = *left;
    for (std::size_t i = 0; i < result.powers.size(); ++i) {
      result.powers[i] += binary.op == ast::BinaryOp::Mul ? right->powers[i] : -right->powers[i];
    }
    result.isNumber = left->isNumber && right->isNumber;
    return result;
  }
  if (!left->isNumber && !right->isNumber && left->powers != right->powers) {
    sink.report(diag::units_differ, binary.range, binary.op == ast::BinaryOp::Add ? "add" : "subtract", dimensionText(*left),
                dimensionText(*right));
    return std::nullopt;
  }
  return left->isNumber ? *right : *left;
}

std::optional<Dimension> checkPart(const ast::Expr& expr, ResponseNames& names, DiagnosticSink& sink) {
  if (const auto* number = ast::dynCast<ast::Number>(&expr)) {
    if (Rational::parse(number->text)) return Dimension{{}, true};
    sink.report(diag::number_overflow, expr.range, number->text, sema::kWholeRange);
    return std::nullopt;
  }
  if (const auto* reference = ast::dynCast<ast::NameRef>(&expr)) {
    const ast::Name& name = reference->name;
    if (std::ranges::count(names.known, name.text) == 0) {
      Diagnostic& diagnostic = sink.report(diag::unknown_quantity, name.range, name.text);
      const std::string close = nearest(name.text, names.known);
      if (!close.empty()) diagnostic.fix(name.range, close, Applicability::Maybe);
      return std::nullopt;
    }
    names.used.push_back(name.text);
    return dimensionOf(name.text);
  }
  if (const auto* unary = ast::dynCast<ast::Unary>(&expr); unary != nullptr && unary->op == ast::UnaryOp::Negate) {
    return checkPart(*unary->operand, names, sink);
  }
  if (const auto* binary = ast::dynCast<ast::Binary>(&expr)) {
    const bool arithmetic = binary->op == ast::BinaryOp::Add || binary->op == ast::BinaryOp::Sub ||
                            binary->op == ast::BinaryOp::Mul || binary->op == ast::BinaryOp::Divide;
    if (arithmetic) return checkBinary(*binary, names, sink);
  }
  sink.report(diag::bad_response, expr.range);
  return std::nullopt;
}

std::optional<double> valueOf(const ast::Expr& expr, const Quantities& row) {
  switch (expr.kind) {
    case NodeKind::Number: {
      const std::optional<Rational> value = Rational::parse(ast::cast<ast::Number>(expr).text);
      return value ? std::optional(value->toDouble()) : std::nullopt;
    }
    case NodeKind::NameRef: {
      const auto found = row.find(ast::cast<ast::NameRef>(expr).name.text);
      return found == row.end() ? std::nullopt : std::optional(found->second);
    }
    case NodeKind::Unary: {
      const std::optional<double> operand = valueOf(*ast::cast<ast::Unary>(expr).operand, row);
      return operand ? std::optional(-*operand) : std::nullopt;
    }
    case NodeKind::Binary: {
      const auto& binary = ast::cast<ast::Binary>(expr);
      const std::optional<double> left = valueOf(*binary.left, row);
      const std::optional<double> right = valueOf(*binary.right, row);
      if (!left || !right) return std::nullopt;
      switch (binary.op) {
        case ast::BinaryOp::Add:
          return *left + *right;
        case ast::BinaryOp::Sub:
          return *left - *right;
        case ast::BinaryOp::Mul:
          return *left * *right;
        case ast::BinaryOp::Divide:
          return *left / *right;
        default:
          return std::nullopt;
      }
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<WrittenTerms> termsOf(const ast::Expr& terms, const std::vector<design::Factor>& factors, DiagnosticSink& sink) {
  const std::vector<const ast::Expr*> summands = summandsOf(terms);
  const auto* first = ast::dynCast<ast::Number>(summands.front());
  const bool throughOrigin = summands.size() > 1 && first != nullptr && first->text == "0";
  const Terms read = throughOrigin ? sumTerms(std::span(summands).subspan(1), factors, sink) : termsIn(terms, factors, sink);
  if (!read) return std::nullopt;
  for (std::size_t i = 1; throughOrigin && i < summands.size(); ++i) {
    const auto* constant = ast::dynCast<ast::Number>(summands[i]);
    if (constant == nullptr) continue;
    sink.report(diag::bad_term, constant->range, "`0 +` leaves out the constant, which `1` is");
    return std::nullopt;
  }
  return WrittenTerms{*read, throughOrigin};
}

std::vector<std::string> namesIn(const ast::Expr& expr) {
  std::vector<std::string> names;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& name : more) {
      if (std::ranges::count(names, name) == 0) names.push_back(name);
    }
  };
  if (const auto* name = ast::dynCast<ast::NameRef>(&expr)) add({name->name.text});
  if (const auto* unary = ast::dynCast<ast::Unary>(&expr)) add(namesIn(*unary->operand));
  if (const auto* binary = ast::dynCast<ast::Binary>(&expr)) {
    add(namesIn(*binary->left));
    add(namesIn(*binary->right));
  }
  if (const auto* call = ast::dynCast<ast::Call>(&expr)) {
    for (const ast::Argument& argument : call->arguments) add(namesIn(*argument.value));
  }
  return names;
}

std::optional<std::vector<std::string>> checkResponse(const ast::Expr& response, const std::vector<std::string>& columns,
                                                      DiagnosticSink& sink) {
  ResponseNames names{quantityNames(), {}};
  names.known.insert(names.known.end(), columns.begin(), columns.end());
  if (!checkPart(response, names, sink)) return std::nullopt;
  if (!names.used.empty()) return std::move(names.used);
  sink.report(diag::bad_response, response.range).note("nothing that is measured is in it: it is the same in every row");
  return std::nullopt;
}

std::optional<double> evaluateResponse(const ast::Expr& response, const Quantities& row) {
  const std::optional<double> value = valueOf(response, row);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace tbem::driver
