#include "compiler/import/onnx/Sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace tbem::imports {

namespace {

constexpr std::size_t kMostSymbols = 8, kMostText = 400;

/// "12*s0*s1" as 12 and its symbols, sorted.
struct Monomial {
  std::int64_t factor = 1;
  std::vector<std::string> symbols;
};

Monomial monomialOf(const Size& size) {
  Monomial result;
  if (size.symbolic.empty()) {
    result.factor = size.number;
    return result;
  }
  for (std::size_t at = 0; at <= size.symbolic.size();) {
    const std::size_t star = std::min(size.symbolic.find('*', at), size.symbolic.size());
    const std::string word = size.symbolic.substr(at, star - at);
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0)
      result.factor = std::stoll(word);
    else
      result.symbols.push_back(word);
    at = star + 1;
  }
  return result;
}

Size sizeOf(Monomial monomial, std::int64_t number) {
  if (monomial.symbols.empty()) return {number, ""};
  if (monomial.symbols.size() > kMostSymbols) throw NoForm{"a size of it is a product of more than 8 open ones"};
  std::sort(monomial.symbols.begin(), monomial.symbols.end());
  const std::string factor = monomial.factor == 1 ? "" : fmt::format("{}*", monomial.factor);
  return {number, factor + fmt::format("{}", fmt::join(monomial.symbols, "*"))};
}

}  // namespace

std::int64_t checkedSize(__int128 number) {
  constexpr __int128 kMost = __int128{1} << 48;
  if (number > kMost || number < -kMost) throw NoForm{"a size of it is larger than 2^48"};
  return static_cast<std::int64_t>(number);
}

Size product(const Size& left, const Size& right) {
  Monomial all = monomialOf(left);
  const Monomial more = monomialOf(right);
  all.factor = checkedSize(__int128{all.factor} * more.factor);
  all.symbols.insert(all.symbols.end(), more.symbols.begin(), more.symbols.end());
  return sizeOf(std::move(all), checkedSize(__int128{left.number} * right.number));
}

std::optional<Size> quotient(const Size& left, const Size& right) {
  if (right.number == 0 || left.number % right.number != 0) return std::nullopt;
  Monomial rest = monomialOf(left);
  const Monomial by = monomialOf(right);
  bool divides = by.factor != 0 && rest.factor % by.factor == 0;
  for (const std::string& symbol : by.symbols) {
    const auto at = std::find(rest.symbols.begin(), rest.symbols.end(), symbol);
    divides = divides && at != rest.symbols.end();
    if (divides) rest.symbols.erase(at);
  }
  const std::int64_t number = left.number / right.number;
  if (!divides) return computed(number, "a quotient", {left, right});
  rest.factor /= by.factor;
  return sizeOf(std::move(rest), number);
}

Size computed(std::int64_t number, const std::string& text, const std::vector<Size>& from) {
  std::vector<std::string> symbols;
  for (const Size& size : from) {
    if (!size.symbolic.empty()) symbols.push_back(size.symbolic);
  }
  if (symbols.empty()) return {number, ""};
  std::string symbol = fmt::format("({} of {})", text, fmt::join(symbols, ", "));
  if (symbol.size() > kMostText) throw NoForm{"a size of it depends on open ones in too many steps"};
  std::replace(symbol.begin(), symbol.end(), '*', 'x');  // a product's sign
  return {number, symbol};
}

Size productOf(const std::vector<Size>& sizes) {
  Size all = {1, ""};
  for (const Size& size : sizes) all = product(all, size);
  return all;
}

std::optional<std::vector<Size>> broadcast(const std::vector<Size>& left, const std::vector<Size>& right) {
  const std::vector<Size>&longer = left.size() < right.size() ? right : left,
        &shorter = left.size() < right.size() ? left : right;
  std::vector<Size> shape = longer;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    Size& size = shape[longer.size() - shorter.size() + i];
    const Size& other = shorter[i];
    if (size.number == 1 && size.symbolic.empty())
      size = other;
    else if (other.number != 1 && other.number != size.number)
      return std::nullopt;
  }
  return shape;
}

}  // namespace tbem::imports
