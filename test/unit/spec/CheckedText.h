// A program of one process, as it is read and checked.
#pragma once

#include "compiler/diagnostics/Render.h"
#include "compiler/sema/check/CheckNames.h"
#include "compiler/spec/prove/Scenarios.h"

#include <memory>
#include <optional>
#include <string>

namespace tbem::test {

/// Of several processes in the text, the last is `process`; of none, it is empty.
struct CheckedText {
  Session session;
  std::unique_ptr<sema::Program> program;
  std::optional<spec::CheckedProcess> process;

  explicit CheckedText(const std::string& text) {
    const Source& source = session.sources.add("test.tbem", text);
    program = sema::load(session.sources, session.sink, source, {});
    sema::checkNames(*program, session.sink);
    for (const ast::Decl* decl : program->main().files.front()->declarations) {
      if (const auto* declared = ast::dynCast<ast::Process>(decl))
        process = spec::checkProcess(session, *program, program->main(), *declared);
    }
  }
  std::string told() const { return renderAll(session.sink, session.sources, {}); }
};

}  // namespace tbem::test
