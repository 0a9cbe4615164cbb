// Parts of a program of which an earlier check had nothing to say, by the text of all that they depend on: a session does not
// look at them again.
//
// What a part reports depends on what was reported before it: the same condition at the same place is told once, with all levels
// at which it breaks. A part that reports nothing, whatever was told before it, can be left out; any other is looked at in its
// turn.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/spec/prove/Work.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tbem::driver {

enum class CleanPart : std::uint8_t { Rows, Proof, Network, Process };

/// A question to a declaration of the program's own file. `beside`: what its answer depends on beside the program's texts.
struct PartQuestion {
  CleanPart part{};
  const ast::Decl* decl = nullptr;
  std::string beside = {};
};

/// Not for several threads at once.
class CleanParts {
public:
  /// The program that is asked about from now on; it has no errors of syntax or names, and outlives the questions.
  void begin(const Workspace& workspace);
  /// Does `work`, which reports to `sink` and says whether its silence would be an answer to keep; not where that is known. Where
  /// it has something to say beside what was said before, it is undone and done again in that company.
  void look(const PartQuestion& question, DiagnosticSink& sink, const std::function<bool()>& work,
            const std::function<void()>& undo = {}, spec::Work* proofs = nullptr);

private:
  using Key = std::array<std::uint64_t, 2>;
  struct Answer {
    bool clean = false;
    std::uint64_t spent = 0;  ///< of the work for proofs
    std::uint64_t round = 0;  ///< of the last program that had it
  };
  struct Declaration {
    const ast::Decl* decl = nullptr;
    std::string text;
    std::vector<std::size_t> names;  ///< declarations whose name is a word of the text
  };

  Key keyOf(const PartQuestion& question) const;
  std::vector<std::size_t> reachedFrom(std::size_t declaration) const;

  std::map<Key, Answer> answers;
  std::uint64_t round = 0;
  std::string common;  ///< what everything is taken to depend on: imports, other modules of the user, assumptions
  std::vector<Declaration> declarations;
};

/// The rows of a design as what a part depends on: arrays come of files and of searches too.
std::string rowsText(const DesignRun& run);

}  // namespace tbem::driver
