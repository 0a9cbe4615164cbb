#include "compiler/plan/PlanFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace tbem::estimate {

namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

enum Column : std::size_t { Id, Lower, Upper, Size, Offset, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"id", "lower", "upper", "size", "offset"};

class FileReader {
public:
  explicit FileReader(std::string_view text) : lines(text) {}

  tl::expected<PlanFile, CsvFault> run() {
    std::vector<CsvField> fields;
    bool good = lines.next(fields) && readHeader(fields);
    while (good && lines.next(fields)) good = readRow(fields);
    if (lines.fault) return tl::unexpected(*lines.fault);
    if (fault) return tl::unexpected(*fault);
    if (!good) return tl::unexpected(CsvFault{0, 0, "it is empty", "its first line is id,lower,upper,size"});
    return std::move(made);
  }

private:
  CsvReader lines;
  PlanFile made;
  std::optional<CsvFault> fault;
  std::array<std::optional<std::size_t>, kColumns> columns;
  std::size_t width = 0;
  std::uint64_t total = 0;
  std::unordered_set<std::string> known;

  bool fail(const CsvField& at, std::string cause, std::string wayOut) {
    fault = CsvFault{at.begin, at.end, std::move(cause), std::move(wayOut)};
    return false;
  }

  bool readHeader(const std::vector<CsvField>& fields) {
    width = fields.size();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto name = std::find(kNames.begin(), kNames.end(), fields[i].text);
      if (name == kNames.end())
        return fail(fields[i], fmt::format("there is no column `{}`", fields[i].text),
                    "columns are id, lower, upper, size and offset");
      std::optional<std::size_t>& column = columns[static_cast<std::size_t>(name - kNames.begin())];
      if (column) return fail(fields[i], fmt::format("column `{}` stands here again", *name), "name each column once");
      column = i;
    }
    for (std::size_t c = 0; c < Offset; ++c) {
      if (!columns[c])
        return fail(fields.front(), fmt::format("column `{}` is missing", kNames[c]),
                    "the first line names the columns: id,lower,upper,size");
    }
    return true;
  }

  std::optional<std::uint64_t> number(const std::vector<CsvField>& fields, Column column, std::uint64_t most) {
    const CsvField& field = fields[*columns[column]];
    std::uint64_t value = 0;
    const char* end = field.text.data() + field.text.size();
    const auto [stop, error] = std::from_chars(field.text.data(), end, value);
    if (error != std::errc() || stop != end || field.text.empty() || value > most) {
      fail(field, fmt::format("`{}` is no {}", field.text, kNames[column]), fmt::format("a whole number from 0 to {}", most));
      return std::nullopt;
    }
    return value;
  }

  bool readRow(const std::vector<CsvField>& fields) {
    if (fields.size() != width)
      return fail(fields.back(), fmt::format("this line has {} fields, the first has {}", fields.size(), width),
                  "a field for each column");
    const CsvField& id = fields[*columns[Id]];
    if (!known.insert(id.text).second)
      return fail(id, fmt::format("buffer `{}` stands here again", id.text), "give each buffer an id of its own");
    const auto from = number(fields, Lower, std::numeric_limits<std::uint32_t>::max() - 1);
    const auto to = from ? number(fields, Upper, std::numeric_limits<std::uint32_t>::max()) : std::nullopt;
    const auto size = to ? number(fields, Size, kMost) : std::nullopt;
    if (!size) return false;
    if (*to <= *from)
      return fail(fields[*columns[Upper]], fmt::format("the buffer ends at {}, before it has begun at {}", *to, *from),
                  "`upper` is the first step at which it is gone");
    total += *size;
    if (total > kMost) return fail(fields[*columns[Size]], "all sizes together pass 2^62 bytes", "plan parts apart");
    if (columns[Offset]) {
      const auto offset = number(fields, Offset, kMost);
      if (!offset) return false;
      made.offsets.push_back(*offset);
    }
    made.ids.push_back(id.text);
    made.requests.push_back({*size, static_cast<std::uint32_t>(*from), static_cast<std::uint32_t>(*to - 1)});
    return true;
  }
};

}  // namespace

tl::expected<PlanFile, CsvFault> readPlanFile(std::string_view text) { return FileReader(text).run(); }

std::string planText(const PlanFile& plan) {
  const std::size_t width = plan.offsets.empty() ? Offset : kColumns;
  std::vector<std::string> fields(kNames.begin(), kNames.begin() + static_cast<std::ptrdiff_t>(width));
  std::string text = csvLine(fields);
  for (std::size_t i = 0; i < plan.ids.size(); ++i) {
    const Request& request = plan.requests[i];
    fields = {plan.ids[i], std::to_string(request.first), std::to_string(request.last + std::uint64_t{1}),
              std::to_string(request.bytes)};
    if (width == kColumns) fields.push_back(std::to_string(plan.offsets[i]));
    text += csvLine(fields);
  }
  return text;
}

std::uint64_t topOf(const PlanFile& plan) {
  std::uint64_t top = 0;
  for (std::size_t i = 0; i < plan.offsets.size(); ++i) {
    if (plan.requests[i].bytes != 0) top = std::max(top, plan.offsets[i] + plan.requests[i].bytes);
  }
  return top;
}

std::vector<std::string> differences(const PlanFile& a, const PlanFile& b) {
  std::unordered_map<std::string_view, std::size_t> inB;
  for (std::size_t i = 0; i < b.ids.size(); ++i) inB.emplace(b.ids[i], i);
  std::unordered_set<std::string_view> inA(a.ids.begin(), a.ids.end());
  std::vector<std::string> told;
  for (std::size_t i = 0; i < a.ids.size(); ++i) {
    const auto other = inB.find(a.ids[i]);
    if (other == inB.end()) {
      told.push_back(
          fmt::format("- {}: {} B, steps {} to {}", a.ids[i], a.requests[i].bytes, a.requests[i].first, a.requests[i].last));
      continue;
    }
    const Request& x = a.requests[i];
    const Request& y = b.requests[other->second];
    std::string text;
    if (x.bytes != y.bytes) text += fmt::format(", {} B instead of {}", y.bytes, x.bytes);
    if (x.first != y.first || x.last != y.last)
      text += fmt::format(", steps {} to {} instead of {} to {}", y.first, y.last, x.first, x.last);
    if (!a.offsets.empty() && !b.offsets.empty() && a.offsets[i] != b.offsets[other->second])
      text += fmt::format(", at {} instead of {}", b.offsets[other->second], a.offsets[i]);
    if (!text.empty()) told.push_back(fmt::format("~ {}: {}", a.ids[i], text.substr(2)));
  }
  for (std::size_t i = 0; i < b.ids.size(); ++i) {
    if (inA.count(b.ids[i]) == 0)
      told.push_back(
          fmt::format("+ {}: {} B, steps {} to {}", b.ids[i], b.requests[i].bytes, b.requests[i].first, b.requests[i].last));
  }
  return told;
}

}  // namespace tbem::estimate
