// Parses one file of the standard library and writes its tree: pack FILE.tbem FILE.tree. Part of the build, not of what is
// installed.
#include "compiler/syntax/parse/Parse.h"
#include "compiler/syntax/tree/Pack.h"

#include <fmt/format.h>

#include <fstream>

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: pack FILE.tbem FILE.tree\n");
    return 2;
  }
  tbem::SourceManager sources;
  tbem::DiagnosticSink sink;
  const auto source = sources.addFile(argv[1]);
  if (!source) {
    fmt::print(stderr, "{}\n", source.error());
    return 1;
  }
  const auto file = tbem::syntax::parse(**source, sink);
  for (const tbem::Diagnostic& one : sink.all()) fmt::print(stderr, "{}: {}\n", sources.describe(one.range.begin), one.message);
  if (sink.hasErrors()) return 1;
  std::ofstream out(argv[2], std::ios::binary | std::ios::trunc);
  out << tbem::syntax::pack(*file);
  out.close();
  if (out) return 0;
  fmt::print(stderr, "{} cannot be written\n", argv[2]);
  return 1;
}
