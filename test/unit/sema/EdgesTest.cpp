// Every operator and number builtin at all pairs of edge values, against whole numbers and fractions of 128 bits.
//
// A result that 64 bits hold is exact. Where they do not, that of whole numbers has its code, and that of a fraction is rounded;
// what has no result has its code. Nothing else may happen.
#include "compiler/diagnostics/Session.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace tbem::sema {
namespace {

using Wide = __int128;
using Big = unsigned __int128;

/// An exact quotient with parts of 128 bits; the oracle. `den` > 0.
struct Exact {
  Wide num = 0;
  Wide den = 1;
};
struct Edge {
  const char* text;
  Exact value;
};

constexpr std::int64_t kLargest = INT64_MAX;
const std::vector<Edge>& edges() {
  constexpr Wide kMost = kLargest;
  static const std::vector<Edge> all = {{"(-9223372036854775807 - 1)", {-kMost - 1, 1}},
                                        {"(-9223372036854775807)", {-kMost, 1}},
                                        {"(-4294967296)", {-(Wide{1} << 32), 1}},
                                        {"(-3)", {-3, 1}},
                                        {"(-1)", {-1, 1}},
                                        {"(-1 / 2)", {-1, 2}},
                                        {"(-1 / 9223372036854775807)", {-1, kMost}},
                                        {"0", {0, 1}},
                                        {"(1 / 9223372036854775807)", {1, kMost}},
                                        {"(1 / 3)", {1, 3}},
                                        {"0.5", {1, 2}},
                                        {"1", {1, 1}},
                                        {"2", {2, 1}},
                                        {"63", {63, 1}},
                                        {"64", {64, 1}},
                                        {"4294967295", {(Wide{1} << 32) - 1, 1}},
                                        {"(9223372036854775807 / 2)", {kMost, 2}},
                                        {"(9223372036854775807 / 3)", {kMost, 3}},
                                        {"4611686018427387904", {Wide{1} << 62, 1}},
                                        {"9223372036854775806", {kMost - 1, 1}},
                                        {"9223372036854775807", {kMost, 1}}};
  return all;
}

Big size(Wide value) { return value < 0 ? -static_cast<Big>(value) : static_cast<Big>(value); }
Big common(Big a, Big b) {
  while (b != 0) {
    const Big rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
Wide floorOf(Wide a, Wide b) {  // b > 0
  const Wide q = a / b;
  return q * b > a ? q - 1 : q;
}
Exact reduced(Wide num, Wide den) {
  if (den < 0) {
    num = -num;
    den = -den;
  }
  const auto divisor = static_cast<Wide>(common(size(num), size(den)));
  return divisor > 1 ? Exact{num / divisor, den / divisor} : Exact{num, den};
}

constexpr const char* kOverflow = "E0216";
constexpr const char* kByZero = "E0215";
constexpr const char* kRounded = "near ";  // before the number

bool isWhole(const Exact& value) { return value.den == 1; }
std::string nearText(long double value) { return fmt::format("{}{}", kRounded, static_cast<double>(value)); }

/// `whole`: that of whole numbers by a function of whole numbers.
std::string textOf(Exact value, bool whole = true) {
  const Exact low = reduced(value.num, value.den);
  const Wide least = -Wide{kLargest} - 1;
  if (low.num > kLargest || low.num < least || low.den > kLargest)
    return whole ? kOverflow : nearText(static_cast<long double>(low.num) / static_cast<long double>(low.den));
  return Rational{static_cast<std::int64_t>(low.num), static_cast<std::int64_t>(low.den)}.str();
}

/// Whole powers by repeated products; a part that leaves 64 bits ends it, for it only grows.
std::string power(Exact base, Exact exponent) {
  const auto real = [&] {
    const double left = static_cast<double>(base.num) / static_cast<double>(base.den);
    const double value = std::pow(left, static_cast<double>(exponent.num));
    return std::isfinite(value) && !(isWhole(base) && exponent.num > 0) ? nearText(value) : std::string(kOverflow);
  };
  const std::string rounded = real();
  if (exponent.den != 1) return "";  // rounded to f64: no exact result
  if (base.num == 0) return exponent.num < 0 ? kByZero : exponent.num == 0 ? "1" : "0";
  if (exponent.num < 0) base = reduced(base.den, base.num);
  Big count = size(exponent.num);
  if (size(base.num) == 1 && base.den == 1) return base.num < 0 && count % 2 == 1 ? "-1" : "1";
  Exact result;
  result.num = 1;
  for (; count > 0; --count) {
    if (size(result.num) > (Big{1} << 63) || size(result.den) > (Big{1} << 63)) return rounded;
    result = reduced(result.num * base.num, result.den * base.den);  // below 2^127: both factors are within 2^63
  }
  const std::string exact = textOf(result);
  return exact == kOverflow ? rounded : exact;
}

std::string expected(const std::string& op, Exact a, Exact b) {
  const bool whole = isWhole(a) && isWhole(b);
  if (op == "+") return textOf({a.num * b.den + b.num * a.den, a.den * b.den}, whole);
  if (op == "-") return textOf({a.num * b.den - b.num * a.den, a.den * b.den}, whole);
  if (op == "*") return textOf({a.num * b.num, a.den * b.den}, whole);
  const Wide left = a.num * b.den, right = b.num * a.den;  // a and b over one denominator
  if (op == "min") return textOf(left <= right ? a : b);
  if (op == "max") return textOf(left >= right ? a : b);
  if (op == "=") return left == right ? "true" : "false";
  if (op == "<") return left < right ? "true" : "false";
  if (op == "<=") return left <= right ? "true" : "false";
  if (op == "**") return power(a, b);
  if (right == 0) return kByZero;
  const Wide n = right < 0 ? -left : left, d = right < 0 ? -right : right;
  const Wide below = floorOf(n, d);
  const Wide above = below * d == n ? below : below + 1;
  const Wide scale = a.den * b.den;
  if (op == "/") return textOf({n, d}, whole && below * d == n);
  if (op == "div") return textOf({below, 1});
  if (op == "cdiv") return textOf({above, 1});
  // What is left of a fraction in f64 has nothing of the exact rest where the quotient is large: any number.
  const auto rest = [&](Wide quotient) {
    const std::string exact = textOf({left - right * quotient, scale});
    return exact == kOverflow && !whole ? "" : exact;
  };
  return rest(op == "mod" || n >= 0 ? below : above);  // or `rem`
}

/// What each expression of a program comes to: its value as it prints, or the code of its error.
std::vector<std::string> valuesOf(const std::vector<std::string>& expressions) {
  std::string text;
  for (std::size_t i = 0; i < expressions.size(); ++i) text += "let z" + std::to_string(i) + " = " + expressions[i] + "\n";
  Session session;
  const auto program = load(session.sources, session.sink, session.sources.add("edge.tbem", text), {});
  ExprPool pool;
  Evaluator evaluator(*program, pool, session.sink);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::size_t told = session.sink.all().size();
    const Resolved constant = program->resolve(program->main(), "z" + std::to_string(i));
    const Value value = constant.decl == nullptr
                            ? Value{}
                            : evaluator.evaluateIn(program->main(), *static_cast<const ast::Constant*>(constant.decl)->value, {});
    values.push_back(session.sink.all().size() > told ? std::string(info(session.sink.all()[told].kind).code)
                     : value.isPoison()               ? "poison without a message"
                                                      : print(pool, value));
  }
  return values;
}
std::string valueOf(const std::string& expression) { return valuesOf({expression}).front(); }

/// The number that a value prints as: "-0.5", "1/3", "1e30".
double numberOf(const std::string& text) {
  const std::size_t slash = text.find('/');
  const double above = std::stod(text.substr(0, slash));
  return slash == std::string::npos ? above : above / std::stod(text.substr(slash + 1));
}

void expectValue(const std::string& found, const std::string& wanted, const std::string& text) {
  EXPECT_NE(found, "poison without a message") << text;
  if (wanted.empty()) return;  // a rounded number or an error
  if (!wanted.starts_with(kRounded)) {
    EXPECT_EQ(found, wanted) << text;
    return;
  }
  ASSERT_FALSE(found.starts_with("E")) << text << ": " << found;
  const double value = numberOf(wanted.substr(std::string_view(kRounded).size()));
  EXPECT_NEAR(numberOf(found), value, 1e-14 * std::abs(value)) << text;
}

TEST(Edges, OperatorsOfTwoAreExactRoundedOrRefused) {
  for (const std::string op : {"+", "-", "*", "/", "div", "cdiv", "mod", "rem", "**", "=", "<", "<=", "min", "max"}) {
    std::vector<std::string> texts, wanted;
    for (const Edge& a : edges()) {
      for (const Edge& b : edges()) {
        const bool isCall = op == "min" || op == "max";
        texts.push_back(isCall ? op + "(" + a.text + ", " + b.text + ")" : std::string(a.text) + " " + op + " " + b.text);
        wanted.push_back(expected(op, a.value, b.value));
      }
    }
    const std::vector<std::string> found = valuesOf(texts);
    for (std::size_t i = 0; i < texts.size(); ++i) expectValue(found[i], wanted[i], texts[i]);
  }
}

TEST(Edges, BuiltinsOfOneAreExactOrRefused) {
  for (const Edge& edge : edges()) {
    const auto [n, d] = edge.value;
    const Wide below = floorOf(n, d);
    EXPECT_EQ(valueOf("-" + std::string(edge.text)), textOf({-n, d})) << edge.text;
    EXPECT_EQ(valueOf("abs(" + std::string(edge.text) + ")"), textOf({n < 0 ? -n : n, d})) << edge.text;
    EXPECT_EQ(valueOf("floor(" + std::string(edge.text) + ")"), textOf({below, 1})) << edge.text;
    EXPECT_EQ(valueOf("ceil(" + std::string(edge.text) + ")"), textOf({below * d == n ? below : below + 1, 1})) << edge.text;
    EXPECT_EQ(valueOf("round(" + std::string(edge.text) + ")"), textOf({floorOf(2 * n + d, 2 * d), 1})) << edge.text;
    EXPECT_EQ(valueOf("str(" + std::string(edge.text) + ")"), "\"" + textOf({n, d}) + "\"") << edge.text;
  }
}

TEST(Edges, RoundedBuiltinsHaveAValueOrACode) {
  for (const std::string name : {"sqrt", "exp", "log", "sin", "cos", "tanh"}) {
    for (const Edge& edge : edges()) {
      const std::string found = valueOf(name + "(" + edge.text + ")");
      EXPECT_NE(found, "poison without a message") << name << " of " << edge.text;
      if ((name == "sqrt" || name == "log") && edge.value.num < 0) {
        EXPECT_EQ(found, "E0209") << name << " of " << edge.text;
      }
    }
  }
}

TEST(Edges, BuiltinsOfListsHaveAValueOrACode) {
  for (const std::string name : {"sum", "product", "min", "max", "len", "reverse"}) {
    std::vector<std::string> texts, wanted;
    for (const Edge& a : edges()) {
      for (const Edge& b : edges()) {
        texts.push_back(name + "([" + a.text + ", " + b.text + "])");
        wanted.push_back(name == "sum"       ? expected("+", a.value, b.value)
                         : name == "product" ? expected("*", a.value, b.value)
                                             : "");
      }
    }
    const std::vector<std::string> found = valuesOf(texts);
    for (std::size_t i = 0; i < texts.size(); ++i) expectValue(found[i], wanted[i], texts[i]);
  }
}

/// Positions and lengths: what takes a whole number refuses those that are none of the list's.
TEST(Edges, PositionsAtTheEdgesAreRefused) {
  for (const Edge& edge : edges()) {
    const std::string at = edge.text;
    for (const std::string& text :
         {"[1, 2][" + at + "]", "replace([1, 2], " + at + ", 3)", "drop([1, 2], [" + at + "])", "keep([1, 2], [" + at + "])",
          "[i for i in 9223372036854775806 .. 9223372036854775807 step " + at + "]",
          "len([" + at + " ..= 9223372036854775807])"}) {
      EXPECT_NE(valueOf(text), "poison without a message") << text;
    }
  }
}

/// Numbers that were rounded stay numbers where exact ones leave 64 bits: f64's own results.
TEST(Edges, RoundedNumbersAreComputedInF64) {
  const auto number = [](const std::string& text) { return Rational::parse(valueOf("floor((" + text + ") * 1000000000000)")); };
  const auto near = [&](const std::string& text, double exact) {
    const auto found = number(text);
    ASSERT_TRUE(found) << text << ": " << valueOf(text);
    EXPECT_NEAR(found->toDouble(), exact * 1e12, 2 + exact * 1e-3) << text;
  };
  near("sqrt(2) * sqrt(3)", 2.449489742783178);  // sqrt 6
  near("exp(1) * sqrt(2)", 3.844231028159117);   // e sqrt 2
  near("sqrt(2) ** 2", 2);
  near("sqrt(0.0000000001)", 0.00001);
  // Python: math.exp(-100), math.exp(100) ** 2, 3 ** -100, math.sqrt(1e30), sum(1 / k for k in range(1, 61))
  EXPECT_EQ(valueOf("exp(-100)"), "3.720075976020836e-44");
  EXPECT_EQ(valueOf("exp(100) ** 2"), "7.22597376812575e86");
  EXPECT_EQ(valueOf("3 ** (-100)"), "1.9403252174826328e-48");
  EXPECT_EQ(valueOf("sqrt(1e30)"), "1000000000000000");
  EXPECT_NEAR(numberOf(valueOf("sum([1 / k for k in 1 ..= 60])")), 4.679870412951737, 1e-14);
  // Python: math.sin(1), math.sin(1e22), math.sin(-7.25), math.sin(math.pi / 6), math.cos(1), math.cos(math.pi / 3),
  // math.tanh(0.5), math.tanh(-1 / 3), 2 * math.pi, math.sin(math.pi)
  EXPECT_DOUBLE_EQ(numberOf(valueOf("sin(1)")), 0.8414709848078965);
  EXPECT_DOUBLE_EQ(numberOf(valueOf("sin(1e22)")), -0.8522008497671888);
  EXPECT_DOUBLE_EQ(numberOf(valueOf("sin(-7.25)")), -0.8230808790115055);
  EXPECT_DOUBLE_EQ(numberOf(valueOf("sin(pi / 6)")), 0.49999999999999994);
  EXPECT_DOUBLE_EQ(numberOf(valueOf("cos(1)")), 0.5403023058681398);
  EXPECT_DOUBLE_EQ(numberOf(valueOf("cos(pi / 3)")), 0.5000000000000001);
  EXPECT_DOUBLE_EQ(numberOf(valueOf("tanh(0.5)")), 0.46211715726000974);
  EXPECT_DOUBLE_EQ(numberOf(valueOf("tanh(-1 / 3)")), -0.32151273753163434);
  EXPECT_DOUBLE_EQ(numberOf(valueOf("2 * pi")), 6.283185307179586);
  EXPECT_DOUBLE_EQ(numberOf(valueOf("sin(pi)")), 1.2246467991473532e-16);
  EXPECT_EQ(valueOf("[sin(0), cos(0), tanh(0), cos(pi), tanh(1000)]"), "[0, 1, 0, -1, 1]");
  EXPECT_EQ(valueOf("exp(40) * exp(40)"), "5.540622384393511e34");
  EXPECT_EQ(valueOf("1e-30 < 1e-29 and 1e30 > 9223372036854775807 and 1e-30 > 0 and 1e30 = 1e30"), "true");
  EXPECT_EQ(valueOf("[floor(1e-30), ceil(1e-30), round(0.4999), floor(-1e-30)]"), "[0, 1, 0, -1]");
  EXPECT_EQ(valueOf("abs(-1e-30)"), "1e-30");
  for (const char* text : {"exp(1000)", "1e300 * 1e300", "floor(1e30)", "1e309", "1e-400", "10 ** 19", "(1 / 3) ** 1e30"})
    EXPECT_EQ(valueOf(text), std::string_view(text) == "(1 / 3) ** 1e30" ? "0" : kOverflow) << text;
  EXPECT_EQ(valueOf("len(\"\u00e9\u4e2d\U0001F600\")"), "3");
}

}  // namespace
}  // namespace tbem::sema
