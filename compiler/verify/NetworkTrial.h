// A network that no design builds, built at sizes of our own.
#pragma once

#include "compiler/run/State.h"

#include <tl/expected.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::driver {

/// What a trial builds.
struct TrialSubject {
  const ast::Callable* callable = nullptr;
  std::string call;                ///< as a design names it: "resnet", "resnet(depth: 50)"
  std::vector<std::string> given;  ///< the parameters that the call gives
  /// Of parameters without a default and without a domain, the values that a design gives, as a factor lists them.
  std::map<std::string, std::string> levels;

  static TrialSubject of(const ast::Callable& network) { return {&network, network.name.text, {}, {}}; }
};
/// What an expression over the program's names calls; nothing after a report.
std::optional<TrialSubject> subjectOf(Workspace& workspace, const ast::Expr& expr);

/// The text of a design that builds a network.
struct Trial {
  std::string text;
  std::string sizes;                            ///< "n = 2, h = 32"
  std::map<std::string, std::string> elements;  ///< factors that are elements of lists: {"widths_0", "widths[0]"}
  std::string lengths;                          ///< "len(widths) = 3"
};

/// How a trial gives sizes.
enum class TrialSizes : std::uint8_t {
  Numbers,  ///< as numbers; parameters have their defaults
  Factors   ///< as factors of one level, so that they are symbols; so are whole numbers without a default, and those of lists
            ///< without one; parameters with a domain are factors with all of it
};

/// 2 samples, `size` for the other dimensions and for numbers without a default; lists without one have `length` elements, but
/// for pairs and pads. Nothing, and why, where there is none.
tl::expected<Trial, std::string> trialOf(const TrialSubject& subject, const SourceManager& sources, int size, TrialSizes sizes,
                                         std::size_t length);

/// A trial's design. Not movable: the experiment refers to the spec.
struct TrialDesign {
  std::unique_ptr<ast::File> file;
  graph::DesignSpec spec;
  graph::Experiment experiment;

  TrialDesign(std::unique_ptr<ast::File> file, graph::DesignSpec spec, Workspace& workspace, const Target& target);
};
/// nullptr where it has mistakes, which are in the session.
std::unique_ptr<TrialDesign> designOf(Workspace& workspace, const Trial& trial, const Target& target);

/// A letter, a digit or an underscore: what words are made of.
bool inWord(char c);
/// Where the text has the whole word, from `from` on; npos: nowhere.
std::size_t findWord(std::string_view text, std::string_view word, std::size_t from = 0);

/// Whether other sizes may mend it.
bool dependsOnSizes(Diag kind);

/// The name of the source that holds a trial's text.
inline constexpr const char* kTrialFile = "<check>";

/// Sizes that are tried in turn.
inline constexpr int kTrialSizes[] = {32, 224, 28, 64, 16, 8, 1};
/// Lengths of lists, likewise.
inline constexpr std::size_t kTrialLengths[] = {3, 2, 1, 4};

}  // namespace tbem::driver
