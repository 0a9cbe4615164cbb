#include "compiler/diagnostics/Diagnostics.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tbem {

namespace {
constexpr DiagInfo kTable[] = {
#define DIAG(code, name, severity, message) {code, #name, Severity::severity, message},
#include "compiler/diagnostics/Diagnostics.def"
#undef DIAG
};

constexpr std::size_t kNumbers = 1000;

/// The row of each number, from 1; 0 where no code has it. A number that two rows have is no constant expression.
constexpr std::array<std::uint16_t, kNumbers> rowsByNumber() {
  std::array<std::uint16_t, kNumbers> rows{};
  std::uint16_t row = 0;
  for (const DiagInfo& one : kTable) {
    std::uint16_t& place = rows.at(static_cast<std::size_t>(kindOf(one.code)));
    if (place != 0) throw "two diagnostics have one number";
    place = ++row;
  }
  return rows;
}
constexpr std::array<std::uint16_t, kNumbers> kRows = rowsByNumber();
}  // namespace

const DiagInfo& info(Diag kind) { return kTable[kRows.at(static_cast<std::size_t>(kind)) - 1]; }

std::span<const DiagInfo> allDiagnostics() { return kTable; }

const DiagInfo* findDiagnostic(std::string_view code) {
  std::string upper(code);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto* found = std::ranges::find(kTable, upper, &DiagInfo::code);
  return found == std::end(kTable) ? nullptr : found;
}

Diagnostic& Diagnostic::label(SrcRange where, std::string text) {
  labels.push_back({where, std::move(text)});
  return *this;
}
Diagnostic& Diagnostic::note(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}
Diagnostic& Diagnostic::fix(SrcRange where, std::string replacement, Applicability how) {
  fixes.push_back({where, std::move(replacement), how});
  return *this;
}
Diagnostic& Diagnostic::level(std::string factor, std::string value) {
  levels.emplace_back(std::move(factor), std::move(value));
  return *this;
}

void Diagnostic::alsoAt(const std::vector<std::pair<std::string, std::string>>& other) {
  if (levels.empty() || other.empty() || other == levels) return;
  if (std::find(also.begin(), also.end(), other) == also.end()) also.push_back(other);
}

Diagnostic& DiagnosticSink::add(Diag kind, SrcRange range, std::string message) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.severity = info(kind).severity;
  diagnostic.range = range;
  diagnostic.message = std::move(message);
  return append(std::move(diagnostic));
}

Diagnostic& DiagnosticSink::append(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::Error) ++errors;
  list.push_back(std::move(diagnostic));
  return list.back();
}

void DiagnosticSink::clear() {
  list.clear();
  errors = 0;
}

namespace {
constexpr std::size_t kLongestWord = 256;  ///< the time for a pair grows with the product of their lengths

/// Optimal string alignment distance (Damerau 1964): one for a letter lost, added, changed, or two neighbours that changed
/// places. `limit` where it is that or more.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t apart = a.size() < b.size() ? b.size() - a.size() : a.size() - b.size();
  if (apart >= limit) return limit;
  std::array<std::array<std::size_t, kLongestWord + 1>, 3> rows;  // of this letter of a, and of the two before
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto &above = rows[(i + 2) % 3], &before = rows[(i + 1) % 3];
    std::size_t least = row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit;  // two letters that change places reach back two rows, for one more
  }
  return std::min(rows[a.size() % 3][b.size()], limit);
}

/// Whether a word of few letters that is one slip away from the candidate was likely meant to be it: another name of three
/// letters is no slip (`net` and `neg`), and of two letters or fewer nearly every name is near. Two letters that changed places
/// are a slip, and so is one letter of at least four behind the first.
bool isSlip(std::string_view word, std::string_view candidate) {
  const auto sameLetter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  if (std::ranges::equal(word, candidate, sameLetter)) return true;
  if (word.size() <= 2) return false;
  if (word.size() == candidate.size() && std::ranges::is_permutation(word, candidate)) return true;
  return std::max(word.size(), candidate.size()) >= 4 && word.front() == candidate.front();
}

bool comesFirst(std::string_view word, std::string_view candidate, std::string_view other) {
  const auto alike = [&](std::string_view name) { return std::ranges::mismatch(word, name).in1 - word.begin(); };
  return alike(candidate) != alike(other) ? alike(candidate) > alike(other) : candidate < other;
}
}  // namespace

// Of names that are as near, the one that begins alike for longer, then the first in the alphabet.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kLongestWord) return "";
  constexpr std::size_t kFewLetters = 4;
  const std::string* best = nullptr;
  // At least one letter is the same.
  std::size_t bestDistance = std::min(std::max<std::size_t>(1, word.size() / 3) + 1, word.size());
  for (const std::string& candidate : candidates) {
    if (candidate == word || candidate.size() > kLongestWord) continue;
    const std::size_t far = distance(word, candidate, bestDistance + 1);
    const bool nearer = far < bestDistance || (far == bestDistance && best != nullptr && comesFirst(word, candidate, *best));
    if (nearer && (word.size() > kFewLetters || isSlip(word, candidate))) {
      bestDistance = far;
      best = &candidate;
    }
  }
  return best != nullptr ? *best : "";
}

}  // namespace tbem
