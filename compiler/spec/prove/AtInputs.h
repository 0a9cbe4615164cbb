// Processes as conditions on values: whether some outputs meet `post`.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/sema/Modules.h"
#include "compiler/sema/Value.h"
#include "compiler/spec/prove/Work.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::spec {

struct ProcessModel;

/// Reads each process once, and remembers what was asked.
class ProcessesAtInputs {
public:
  ProcessesAtInputs(Session& session, const sema::Program& program);
  ~ProcessesAtInputs();
  /// Whether `pre` holds of inputs with these values (constants of `pool`) and some outputs meet `post`, an only output that is a
  /// bool being true. Exact. Nothing where no proof is found, the work for all that was asked is spent, or after a report.
  std::optional<bool> holds(const ast::Process& process, const sema::Module& module, const sema::ExprPool& pool,
                            const std::vector<std::pair<std::string, sema::Value>>& inputs);

private:
  struct Known;
  Session& session;
  const sema::Program& program;
  Work work{Work::kAll / 10};  ///< of all that is asked
  std::map<const ast::Process*, std::unique_ptr<Known>> known;
};

}  // namespace tbem::spec
