// The repository's programs, what their names mean, and the same programs with other names.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/sema/check/CheckNames.h"
#include "compiler/sema/check/Uses.h"
#include "test/SourceTree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tbem::test {

inline std::string readAll(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A program with its modules, and what its names mean.
struct Read {
  Session session;
  const Source* source = nullptr;
  std::unique_ptr<sema::Program> program;
  sema::Uses uses;

  Read(const std::string& path, const std::string& text) {
    source = &session.sources.add(path, text);
    program = sema::load(session.sources, session.sink, *source, {});
    if (!session.sink.hasErrors()) sema::checkNames(*program, session.sink);
    uses = sema::findUses(*program);
  }
  bool isOwn(SrcRange range) const { return range.begin >= source->base && range.end <= source->base + source->text.size(); }
};

inline std::vector<std::string> programsIn(const std::vector<std::string>& folders) {
  std::vector<std::string> paths;
  for (const std::string& folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(inSources(folder)))
      if (entry.path().extension() == ".tbem") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The program with each of its own declarations, and all that means it, called otherwise.
inline std::string renamed(const Read& read, std::size_t& changed) {
  const std::string& text = read.source->text;
  const auto wordAt = [&](SrcRange range) { return text.substr(range.begin - read.source->base, range.end - range.begin); };
  std::set<std::string> elaborated;  // what is known by its name alone when the graph is built
  for (const sema::Use& use : read.uses.all())
    if (use.kind == sema::NameKind::Elaborated && read.isOwn(use.range)) elaborated.insert(wordAt(use.range));
  std::map<Loc, std::pair<SrcRange, std::string>> edits;
  for (const sema::Use& use : read.uses.all()) {
    if (!use.isDeclaration() || !read.isOwn(use.range) || edits.count(use.range.begin) != 0) continue;
    const std::string word = wordAt(use.range);
    const std::vector<SrcRange> places = read.uses.sameName(use.range);
    const bool can = elaborated.count(word) == 0 && std::all_of(places.begin(), places.end(), [&](SrcRange place) {
                       return read.isOwn(place) && wordAt(place) == word;
                     });
    if (!can) continue;
    ++changed;
    for (const SrcRange place : places) edits[place.begin] = {place, "renamed_" + std::to_string(changed)};
  }
  std::string result = text;
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
    const SrcRange place = edit->second.first;
    result.replace(place.begin - read.source->base, place.end - place.begin, edit->second.second);
  }
  return result;
}

}  // namespace tbem::test
