// Backends that are other programs: a row is measured by a child that tbemc starts and that measures itself. `command("...")` is
// any program; a framework (Frameworks.h) runs the network that `emit` writes for it.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/foreign/Frameworks.h"
#include "compiler/syntax/tree/Ast.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::foreign {

struct Backend {
  const Framework* framework = nullptr;  ///< nullptr: a command
  std::string command;                   ///< for `sh -c`; of a framework ""
  std::uint64_t memory = 0;              ///< bytes of address space that a command may have; 0: no limit
  std::string python;                    ///< of a framework, as the program has it; "": the campaign's
  std::string device = "cpu";            ///< of a framework: "cpu" or "cuda"
  bool compile = false;                  ///< of a framework: its own compiler is used (torch.compile)
};

/// A backend as a campaign has it.
struct Asked {
  std::string name;  ///< key of the store, and in tables: `cpu`, `pytorch(compile: true)`; equal backends have equal names
  std::optional<Backend> foreign;  ///< nothing: one of our own
};

/// What `on` of a `measure` names, in its order, each once; nothing after a report. Empty where there is no `on`.
std::optional<std::vector<Asked>> askedBy(const ast::Measure& decl, DiagnosticSink& sink, const SourceManager& sources);

/// What `--on` names, in the words of the clause. Errors: why it names none.
tl::expected<std::vector<Asked>, std::string> askedBy(const std::string& option);

}  // namespace tbem::foreign
