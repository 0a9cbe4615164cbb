// One token edited in a program that is right: how many messages `check` gives, and how near to the edit the first stands. Over
// the examples and over the whole standard library, by the whole front end: syntax, names, designs, rows, conditions.
#include "test/prop/syntax/Mutants.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/Repeats.h"
#include "compiler/pipeline/Stages.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tbem::test {
namespace {

/// The error messages of one program, in the order told.
struct Told {
  std::size_t errors = 0;
  std::vector<std::ptrdiff_t> firstLines;  ///< that the first marks in the program
  std::string shown;
};

/// `name` is a path below the repository: a file of the standard library is checked as one.
Told check(const std::string& name, const std::string& text) {
  namespace fs = std::filesystem;
  static const fs::path root = fs::temp_directory_path() / ("tbem-mutants-" + std::to_string(getpid()));
  const fs::path path = root / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  for (const auto& neighbour : fs::directory_iterator(fs::path(inSources(name)).parent_path()))  // which it may import
    if (neighbour.path().extension() == ".tbem" && neighbour.path().filename() != path.filename())
      fs::create_symlink(neighbour.path(), path.parent_path() / neighbour.path().filename());
  driver::Request request;
  request.program.files = {path.string()};
  Events nobody;
  driver::PipelineState state(request, nobody);
  driver::checkAll(state);
  mergeRepeats(state.sink());
  fs::remove_all(root);
  Told told;
  const Session& session = state.workspace->session;
  told.errors = session.sink.errorCount();
  for (const Diagnostic& each : session.sink.all()) {
    if (each.severity != Severity::Error) continue;
    const auto mark = [&](SrcRange range) {
      if (session.sources.find(range.begin) == state.workspace->file().source)
        told.firstLines.push_back(static_cast<std::ptrdiff_t>(session.sources.lineColumn(range.begin).line));
    };
    mark(each.range);
    for (const Label& label : each.labels) mark(label.range);
    break;
  }
  if (told.errors != 0) told.shown = renderAll(session.sink, session.sources, {false, 120});
  return told;
}

std::ptrdiff_t lineOf(const std::string& text, std::size_t place) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
}

/// Edits tokens of every program below `folder`, and holds the messages to what a reader may expect.
void expectFewMessagesNearTheEdit(const std::string& folder, int rounds, std::uint64_t fixedSeed) {
  std::vector<std::pair<std::string, std::string>> programs;
  const std::string root = inSources("");
  for (const auto& [path, text] : corpus()) {
    // What imports a model of PyTorch is no program without it.
    const bool isOfModel = path.find("/research_repo/") != std::string::npos;
    if (path.starts_with(root + folder + "/") && !isOfModel) programs.emplace_back(path.substr(root.size()), text);
  }
  ASSERT_FALSE(programs.empty());
  for (const auto& [name, text] : programs) ASSERT_EQ(check(name, text).errors, 0U) << check(name, text).shown;

  const char* show = std::getenv("TBEM_SHOW_MUTANTS");  // a number of messages: print the edits that draw as many, or a far one
  Numbers numbers(seed(fixedSeed));
  std::vector<std::size_t> count(30);
  std::size_t rejected = 0;
  std::size_t near = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto& [name, text] = programs[static_cast<std::size_t>(round) % programs.size()];
    const Edit edit = editOneToken(text, numbers);
    if (edit.text == text) continue;
    const Told told = check(name, edit.text);
    if (told.errors == 0) continue;
    ++rejected;
    ++count[std::min<std::size_t>(told.errors, count.size() - 1)];
    const std::ptrdiff_t line = lineOf(text, edit.at), last = lineOf(text, edit.end);
    const bool close = std::any_of(told.firstLines.begin(), told.firstLines.end(),
                                   [&](std::ptrdiff_t marked) { return marked >= line - 1 && marked <= last + 1; });
    near += close ? 1 : 0;
    if (show != nullptr && (told.errors >= static_cast<std::size_t>(std::atoi(show)) || !close))
      std::printf("---- edit at line %td, %zu messages%s\n%s", line, told.errors, close ? "" : ", far", told.shown.c_str());
  }
  const auto share = [&](std::size_t number) { return static_cast<double>(number) / static_cast<double>(rejected); };
  std::size_t worst = count.size() - 1;
  while (worst > 1 && count[worst] == 0) --worst;
  std::printf("%s: %zu of %d edits rejected; one message %.1f %%, at most two %.1f %%, worst %zu; the first near %.1f %%\n",
              folder.c_str(), rejected, rounds, 100 * share(count[1]), 100 * share(count[1] + count[2]), worst,
              100 * share(near));
  EXPECT_GE(rejected, static_cast<std::size_t>(rounds) / 2);
  EXPECT_GE(share(count[1]), 0.85);
  EXPECT_GE(share(count[1] + count[2]), 0.97);
  EXPECT_LE(worst, 5U);
  EXPECT_GE(share(near), 0.98);
}

TEST(CheckedMutants, Examples) { expectFewMessagesNearTheEdit("examples", 500, 20240917); }
TEST(CheckedMutants, StandardLibrary) { expectFewMessagesNearTheEdit("stdlib", 1000, 20240918); }

}  // namespace
}  // namespace tbem::test
