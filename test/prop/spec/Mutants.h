// Mutants of specifications, and whether tests made from the specification tell them apart.
//
// A mutant differs in one place of `pre`, `post` or `requires`. It stands for a program that does what it says: refuses what its
// `pre` does not admit, and gives an output that its `post` allows. A test kills it where the specification says otherwise.
#pragma once

#include "compiler/spec/network/Contract.h"
#include "compiler/spec/tests/Vibration.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace tbem::test {

using sema::ExprId;

/// A specification with its conditions as conjuncts.
struct Subject {
  std::string name;
  spec::ProcessModel model;
  std::vector<spec::Scenario> scenarios;
  std::vector<ExprId> pre, post;   ///< what may be mutated
  ExprId otherPre{}, otherPost{};  ///< and what goes with it
};

struct Mutant {
  enum class Change { Relation, Arithmetic, Constant, Logic, Variable, Dropped } change{};
  std::size_t subject = 0;
  bool ofPost = false;
  std::size_t conjunct = 0;
  ExprId changed{};  ///< in place of the conjunct
};
const char* word(Mutant::Change change);

enum class Fate { Killed, Equivalent, Alive };

/// The library's networks, blocks and operators that declare conditions, and the processes of a program.
struct Subjects {
  explicit Subjects(const std::string& processes);
  Session session;
  std::unique_ptr<sema::Program> program;
  std::deque<Subject> list;
  std::size_t declared = 0;          ///< declarations with conditions
  std::vector<std::string> leftOut;  ///< those among them without tests, and why

private:
  void add(const sema::Module& module, const ast::Callable& callable);
  void add(const ast::Process& process);
};

/// Every mutant of every subject; what is the same expression as before is none.
std::vector<Mutant> allMutants(Subjects& subjects);
/// The condition that has the mutant in it.
ExprId conditionOf(Subject& subject, const Mutant& mutant);
/// The operands of a conjunction, left to right.
std::vector<ExprId> conjunctsOf(const sema::ExprPool& pool, ExprId condition);
/// "conv2d: pre `groups >= 1` becomes `groups > 1`".
std::string describe(const Subjects& subjects, const Mutant& mutant);
/// Runs the tests on a mutant; of a survivor a proof says whether it is equivalent.
Fate fateOf(Subjects& subjects, const Mutant& mutant, const spec::TestSuite& suite);

}  // namespace tbem::test
