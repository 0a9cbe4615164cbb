// Diagnostics as data: one table of kinds (`Diagnostics.def`), one object that text, JSON and editors render.
#pragma once

#include "compiler/diagnostics/Source.h"

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem {

enum class Severity : std::uint8_t { Error, Warning, Note };

/// A kind of diagnostic: the number of its code. The names are in `diagnostics/*.h`, one header a table.
enum class Diag : std::uint16_t {};

/// The kind with this code: a letter and four digits.
constexpr Diag kindOf(std::string_view code) {
  std::uint16_t number = 0;
  for (char digit : code.substr(1)) number = static_cast<std::uint16_t>(number * 10 + (digit - '0'));
  return static_cast<Diag>(number);
}

/// The row of the table that a kind has.
struct DiagInfo {
  std::string_view code;  ///< "E0201"; stable, what `tbemc explain` takes
  std::string_view name;
  Severity severity;
  std::string_view message;  ///< fmt format string with positional arguments
};
const DiagInfo& info(Diag kind);
/// Every row, in the order of the tables.
std::span<const DiagInfo> allDiagnostics();
/// The row with this code ("E0201", any case), or nullptr.
const DiagInfo* findDiagnostic(std::string_view code);

/// How sure a fix is: `Certain` ones are applied by `check --fix`.
enum class Applicability : std::uint8_t { Certain, Maybe, Placeholder };

struct Label {
  SrcRange range;
  std::string text;
};

struct Fix {
  SrcRange range;  ///< replaced by `replacement`; empty range: inserted
  std::string replacement;
  Applicability applicability = Applicability::Maybe;
};

struct Diagnostic {
  Diag kind{};
  Severity severity{};
  SrcRange range;  ///< the narrowest thing that is wrong
  std::string message;
  std::vector<Label> labels;  ///< other places that matter
  std::vector<std::string> notes;
  std::vector<Fix> fixes;
  /// Levels of the design at which it happens, e.g. {"depth","11"}; empty where it does not depend on them.
  std::vector<std::pair<std::string, std::string>> levels;
  /// Other levels at which the same happens in the same place, each as `levels`, each once.
  std::vector<std::vector<std::pair<std::string, std::string>>> also;

  Diagnostic& label(SrcRange where, std::string text);
  Diagnostic& note(std::string text);
  Diagnostic& fix(SrcRange where, std::string replacement, Applicability how = Applicability::Maybe);
  Diagnostic& level(std::string factor, std::string value);
  /// It happens at these levels too. Nothing for one that depends on no levels.
  void alsoAt(const std::vector<std::pair<std::string, std::string>>& other);
};

/// Collects what the stages report. Stages never print.
class DiagnosticSink {
public:
  /// Adds a diagnostic; `args` fill the message of its table row. The reference is good until the sink is cleared.
  template <class... Args>
  Diagnostic& report(Diag kind, SrcRange range, const Args&... args) {
    return add(kind, range, fmt::vformat(info(kind).message, fmt::make_format_args(args...)));
  }
  /// Adds a diagnostic made elsewhere (with a sink of its own).
  Diagnostic& append(Diagnostic diagnostic);
  const std::deque<Diagnostic>& all() const { return list; }
  /// The first that was reported for which `is(diagnostic)`, to be added to; or nullptr.
  template <class Test>
  Diagnostic* find(Test&& is) {
    for (Diagnostic& one : list) {
      if (is(std::as_const(one))) return &one;
    }
    return nullptr;
  }
  std::size_t errorCount() const { return errors; }
  bool hasErrors() const { return errors != 0; }
  void clear();

private:
  Diagnostic& add(Diag kind, SrcRange range, std::string message);
  std::deque<Diagnostic> list;
  std::size_t errors = 0;
};

/// The candidate nearest to `word` (edit distance at most a third of its length), or "".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tbem
