// Templates of templates: the operations of the `mutate`s that are being elaborated, and what they do to applications and to
// turns of loops (pass/Mutation.h says which does what). Internal to this folder.
//
// Which places were there, and which operations are in progress, is kept here; what they insert or repeat is applied by the
// elaboration at hand.
#pragma once

#include "compiler/graph/elaborate/Activation.h"
#include "compiler/graph/pass/Mutation.h"

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::graph {

class Elaborator;

class Mutations {
public:
  bool empty() const { return active.empty(); }
  std::size_t size() const { return active.size(); }
  /// Takes the levels of operations out of the parameters, those of the base last made first. False after a report.
  bool begin(Elaborator& elaborator, const ast::Callable& decl, std::vector<sema::Local>& parameters, const std::string& path);
  /// Those begun after the first `before`. Reports operations whose place was not there, if the template was elaborated to its
  /// end.
  void end(Elaborator& elaborator, std::size_t before, bool complete);

  /// The application, as they change it.
  sema::Value apply(Elaborator& elaborator, Application application);
  /// What stands in the place of a callable, with those of its arguments that it declares.
  sema::Value swapped(Elaborator& elaborator, sema::Value callee, std::string_view wantedName, sema::Arguments& arguments);
  /// How often the turn that begins here runs.
  std::size_t beginTurn(Elaborator& elaborator, const ast::For& loop);
  /// False after a report.
  bool endTurn(Elaborator& elaborator, const ast::For& loop);

private:
  std::vector<Change*> changesAt(const std::string& path, std::string_view declaration);
  std::vector<Change*> widen(Elaborator& elaborator, Application& application);

  std::deque<Mutation> active;  ///< of the derived templates being applied; a deque, since changes are pointed at
};

}  // namespace tbem::graph
