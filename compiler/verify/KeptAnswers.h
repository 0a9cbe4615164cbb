// Parts of a program of which it is known what an earlier check had to say, by the text of all that they depend on: a session
// does not look at them again. Most had nothing to say; what others said is said again, at the places where their texts lie now.
//
// What a part reports depends on what was reported before it: the same condition at the same place is told once, with all levels
// at which it breaks. Reports find each other by their range. So a part that reports nothing can be left out, whatever was told
// before it, and one that reports something says the same again unless something was told at one of its ranges; then it is looked
// at in that company.
//
// A part that had nothing to say has nothing to say either where only comments and blanks have changed.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/experiment/designs/Designs.h"
#include "compiler/spec/prove/Work.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

enum class CheckedPart : std::uint8_t { Rows, Proof, Network, Process, Budgets };

/// A question to a declaration of the program's own file. `beside`: what its answer depends on beside the program's texts.
struct PartQuestion {
  CheckedPart part{};
  const ast::Decl* decl = nullptr;
  std::string beside = {};
};

/// A place in a program that means the same in the next one, where a part's texts are the same.
struct RelativeRange {
  enum class In : std::uint8_t { Nothing, Declaration, File } in = In::Nothing;
  std::size_t declaration = 0;  ///< of those that the part depends on
  std::string file;             ///< the name of another file of the program
  Loc begin = 0, end = 0;       ///< from the beginning of either
};

/// Not for several threads at once.
class KeptAnswers {
public:
  /// The program that is asked about from now on; it has no errors of syntax or names, and outlives the questions.
  void begin(const Workspace& program);
  /// Does `work`, which reports to `sink` and says whether that would be an answer to keep; not where that is known. Where what
  /// it has to say may meet what was said before, it is undone and done again in that company.
  void look(const PartQuestion& question, DiagnosticSink& sink, const std::function<bool()>& work,
            const std::function<void()>& undo = {}, spec::Work* proofs = nullptr);

  /// Questions since `begin`, and those of them that work was done for.
  struct Counts {
    std::size_t questions = 0, worked = 0;
  };
  const Counts& counts() const { return counted; }

private:
  using Key = std::array<std::uint64_t, 2>;
  struct Part {
    Key key;
    Key code;                          ///< the same without comments, and with blanks only where they may matter
    std::vector<std::size_t> reached;  ///< declarations that it depends on, in the order of the file
  };
  struct Answer {
    bool kept = false;                   ///< else only that it is to be looked at in its turn
    std::vector<Diagnostic> told = {};   ///< with places that say nothing
    std::vector<RelativeRange> at = {};  ///< of all of `told`, in their order
    std::uint64_t spent = 0;             ///< of the work for proofs
    std::uint64_t round = 0;             ///< of the last program that had it
  };
  struct Declaration {
    const ast::Decl* decl = nullptr;
    std::string text;
    std::string code;                ///< `text` as Part::code has it
    std::vector<std::size_t> names;  ///< declarations whose name is a word of the code
  };

  Part partOf(const PartQuestion& question) const;
  std::vector<std::size_t> reachedFrom(std::size_t declaration) const;
  std::optional<RelativeRange> relative(const Part& part, SrcRange range) const;
  SrcRange absolute(const Part& part, const RelativeRange& range) const;
  Answer answerOf(const Part& part, const std::deque<Diagnostic>& told) const;
  bool sayAgain(const Part& part, const Answer& answer, DiagnosticSink& sink) const;

  const Workspace* workspace = nullptr;
  std::map<Key, Answer> answers;
  std::uint64_t round = 0;
  Counts counted;
  std::string common;  ///< what everything is taken to depend on: imports, other modules of the user, assumptions
  std::vector<Declaration> declarations;
};

/// The rows of a design as what a part depends on: arrays come of files and of searches too.
std::string rowsText(const DesignRun& run);

}  // namespace tbem::driver
