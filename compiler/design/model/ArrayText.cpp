#include "compiler/design/model/ArrayText.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/support/Csv.h"
#include "compiler/support/Rational.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tbem::design {

namespace {

/// A way to read cells: as levels, or as levels' numbers.
struct Reading {
  std::vector<std::uint32_t> cells;  ///< in the file's order of columns
  std::optional<ArrayTextFault> fault;
};

std::string listed(const std::vector<std::string>& labels) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, labels.size()); ++i) text += (i == 0 ? "" : ", ") + labels[i];
  return labels.size() > kShown ? text + ", ..." : text;
}

class ArrayReader {
public:
  ArrayReader(std::string_view text, std::span<const Factor> factors, std::size_t maxRows)
      : text(text), factors(factors), maxRows(maxRows) {}

  ArrayTextChoice run() {
    for (std::uint32_t f = 0; f < factors.size(); ++f) {
      order.push_back(f);
      levelOf.emplace_back();
      for (std::uint32_t l = 0; l < factors[f].labels.size(); ++l) levelOf.back().emplace(factors[f].labels[l], l);
    }
    CsvReader lines(text);
    std::vector<CsvField> fields;
    bool first = true;
    while (lines.next(fields)) {
      const bool header = std::exchange(first, false) && isHeader(fields);
      if (auto fault = header ? readHeader(fields) : readRow(fields)) return *std::move(fault);
    }
    if (lines.fault) return *std::move(lines.fault);
    if (runs == 0) return ArrayTextFault{0, 0, "it has no rows", "a line for each row, a field for each factor"};
    // Levels as such go before numbers, where both would do. Where neither does, the one that goes further was meant.
    const bool meantNumbers = levels.fault && (!numbers.fault || numbers.fault->begin > levels.fault->begin);
    Reading& taken = meantNumbers ? numbers : levels;
    if (taken.fault) return *std::move(taken.fault);
    return arrayOf(taken.cells);
  }

private:
  std::string_view text;
  std::span<const Factor> factors;
  std::size_t maxRows;
  std::vector<std::unordered_map<std::string, std::uint32_t>> levelOf;  ///< by label
  std::vector<std::uint32_t> order;                                     ///< factor of each column
  Reading levels, numbers;
  std::size_t runs = 0;

  std::optional<std::uint32_t> find(const std::string& name) const {
    for (std::uint32_t f = 0; f < factors.size(); ++f) {
      if (factors[f].name == name) return f;
    }
    return std::nullopt;
  }
  bool isHeader(const std::vector<CsvField>& fields) const {
    return std::any_of(fields.begin(), fields.end(), [&](const CsvField& field) { return find(field.text).has_value(); });
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Factor& factor : factors) all.push_back(factor.name);
    return all;
  }

  std::optional<ArrayTextFault> readHeader(const std::vector<CsvField>& fields) {
    order.clear();
    const std::string help = "the header names each factor once: " + listed(names());
    for (const CsvField& field : fields) {
      const auto factor = find(field.text);
      if (!factor)
        return ArrayTextFault{field.begin, field.end, fmt::format("`{}` is no factor of the design", field.text), help};
      if (std::find(order.begin(), order.end(), *factor) != order.end())
        return ArrayTextFault{field.begin, field.end, fmt::format("`{}` has a column already", field.text), help};
      order.push_back(*factor);
    }
    for (std::uint32_t f = 0; f < factors.size(); ++f) {
      if (std::find(order.begin(), order.end(), f) == order.end())
        return ArrayTextFault{fields.back().end, fields.back().end, fmt::format("`{}` has no column", factors[f].name), help};
    }
    return std::nullopt;
  }

  std::optional<ArrayTextFault> readRow(const std::vector<CsvField>& fields) {
    if (fields.size() != factors.size()) {
      return ArrayTextFault{fields.front().begin, fields.back().end,
                            fmt::format("this line has {} field{}, the design has {} factor{}", fields.size(),
                                        fields.size() == 1 ? "" : "s", factors.size(), factors.size() == 1 ? "" : "s"),
                            "fields are set apart by commas, one for each factor: " + listed(names())};
    }
    if (++runs > maxRows) {
      return ArrayTextFault{fields.front().begin, fields.back().end, fmt::format("more than {} rows", maxRows),
                            "a smaller array"};
    }
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const Factor& factor = factors[order[c]];
      if (factor.nested && fields[c].begin == fields[c].end) {
        levels.cells.push_back(static_cast<std::uint32_t>(factor.labels.size()));
        numbers.cells.push_back(levels.cells.back());
        continue;
      }
      readLevel(fields[c], order[c]);
      readNumber(fields[c], order[c]);
    }
    return std::nullopt;
  }

  void readLevel(const CsvField& field, std::uint32_t f) {
    if (levels.fault) return;
    const Factor& factor = factors[f];
    if (const auto known = levelOf[f].find(field.text); known != levelOf[f].end()) return levels.cells.push_back(known->second);
    if (const auto number = Rational::parse(field.text); number && factor.numeric()) {
      const auto same = std::find(factor.values.begin(), factor.values.end(), number->toDouble());
      if (same != factor.values.end()) return levels.cells.push_back(static_cast<std::uint32_t>(same - factor.values.begin()));
    }
    levels.fault = {field.begin, field.end, fmt::format("`{}` is no level of `{}`", field.text, factor.name),
                    fmt::format("its levels are {}; or every cell of the file is a level's number, from 0",
                                nearestFew(field.text, factor.labels))};
  }

  void readNumber(const CsvField& field, std::uint32_t f) {
    if (numbers.fault) return;
    std::uint32_t number = 0;
    const char* const end = field.text.data() + field.text.size();
    const auto [stop, error] = std::from_chars(field.text.data(), end, number);
    if (error == std::errc() && stop == end && number < factors[f].labels.size()) return numbers.cells.push_back(number);
    numbers.fault = {
        field.begin, field.end, fmt::format("`{}` is the number of no level of `{}`", field.text, factors[f].name),
        fmt::format("its levels {} have the numbers 0 to {}", listed(factors[f].labels), factors[f].labels.size() - 1)};
  }

  Array arrayOf(const std::vector<std::uint32_t>& cells) const {
    std::vector<std::uint32_t> counts;
    for (const Factor& factor : factors)
      counts.push_back(static_cast<std::uint32_t>(factor.labels.size() + (factor.nested ? 1 : 0)));
    Array array = blankArray(runs, std::move(counts));
    for (const Factor& factor : factors) {
      if (factor.nested) array.nested.push_back(*factor.nested);
    }
    for (std::size_t i = 0; i < cells.size(); ++i) array.at(i / order.size(), order[i % order.size()]) = cells[i];
    return array;
  }
};
}  // namespace

ArrayTextChoice readArray(std::string_view text, std::span<const Factor> factors, std::size_t maxRows) {
  return ArrayReader(text, factors, maxRows).run();
}

}  // namespace tbem::design
