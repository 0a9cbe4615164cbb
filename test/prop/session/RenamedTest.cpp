// A program in which all that is declared is called otherwise, with all that means it, still checks: designs, proofs, trainings
// and graphs find what they look for by name.
#include "compiler/session/CompileSession.h"
#include "test/prop/uses/Programs.h"

#include <gtest/gtest.h>

namespace tbem::test {
namespace {

TEST(Renamed, ProgramsStillCheck) {
  std::size_t changed = 0, programs = 0;
  for (const std::string& path : programsIn({"examples", "test/lit"})) {
    const Read read(path, readAll(path));
    if (read.session.sink.hasErrors()) continue;
    const std::string text = renamed(read, changed);
    session::CompileSession fresh;
    if (fresh.check(path, read.source->text).sink.hasErrors()) continue;
    const Session& after = fresh.check(path, text);
    ++programs;
    for (const Diagnostic& one : after.sink.all())
      if (info(one.kind).severity == Severity::Error)
        ADD_FAILURE() << path << ": " << one.message << " at " << after.sources.describe(one.range.begin) << "\n" << text;
  }
  EXPECT_GT(programs, 60u);
  EXPECT_GT(changed, 1000u);
}

}  // namespace
}  // namespace tbem::test
