// A program that is edited and checked again and again: what an edit leaves as it was is not done again. For editors and for a
// dialogue; it prints nothing and keeps nothing outside of itself, so that a process may have several, each in a thread.
//
// A check says what `tbemc check` says of the same text, in the same order. What is kept, by content:
//   the standard library's modules (sema/Kept.h), as long as the program imports them in the same order;
//   what there is to say of the rows of a design, of its proof, of a network and of a process, mostly nothing, by the text of all
//   that each depends on (verify/KeptAnswers.h).
// The file itself is parsed anew, and its names are looked up anew.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Source.h"
#include "compiler/sema/Modules.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::session {

/// What there is to say of a program, and the texts that it speaks of.
struct Checked {
  std::vector<Diagnostic> diagnostics;
  SourceManager sources;
  bool hasErrors() const;
};

class CompileSession {
public:
  /// Called behind each stage of a check, by its name in the pipeline, and at the end of a check that got beyond them ("beyond").
  using Passed = std::function<void(std::string_view stage)>;
  explicit CompileSession(sema::LoadOptions load = {}, Passed passed = {});
  ~CompileSession();
  CompileSession(const CompileSession&) = delete;
  CompileSession& operator=(const CompileSession&) = delete;

  /// Checks `text` as the contents of the file `path`, which need not exist. The user's modules that it imports, arrays and
  /// datasets are read from the disk each time. After a bug of ours (support/Bug.h) the session goes on.
  Checked check(const std::string& path, std::string text);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

}  // namespace tbem::session
