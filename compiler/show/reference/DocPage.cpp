#include "compiler/show/reference/DocPage.h"

#include "compiler/sema/Suggest.h"
#include "compiler/show/WrappedText.h"
#include "compiler/show/reference/DocSearch.h"
#include "compiler/show/reference/DocText.h"
#include "compiler/show/reference/WordPages.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

struct Entry {
  const ast::Decl* decl;
  std::string module;
};

std::string nameOf(const Entry& entry) {
  return entry.module.empty() ? entry.decl->name.text : entry.module + "." + entry.decl->name.text;
}

/// Every named declaration of the program's own file, and the public ones of the standard library.
std::vector<Entry> entries(const sema::Program& program) {
  std::vector<Entry> found;
  for (const auto& module : program.modules()) {
    if (!module->isStandard && module.get() != &program.main()) continue;
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) {
        if (sema::isNamed(*decl) && (!decl->isPrivate || !module->isStandard)) found.push_back({decl, module->name});
      }
    }
  }
  return found;
}

/// The declaration's text without the `///` lines before it and without an empty end.
std::string definition(const Session& session, const ast::Decl& decl) {
  std::string text(session.sources.text(decl.range));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  while (text.rfind("///", 0) == 0) {
    const std::size_t end = text.find('\n');
    text = end == std::string::npos ? "" : text.substr(end + 1);
  }
  return text;
}

/// A kind, a name and a sentence; the sentence goes on below itself where it is wider than the terminal or --width.
void printEntry(show::Out& out, const char* kind, const std::string& name, const std::string& sentence) {
  const std::string left = fmt::format("{:<9} {:<28}", kind, name);
  const std::size_t width = out.display.width != 0 ? out.display.width : report::terminalWidth(STDOUT_FILENO);
  const std::size_t beside = report::displayWidth(left) + 1;
  out.print("{}", show::hanging(left, sentence, beside < width / 2 + 1 ? beside : 10, width));
}

void printLine(show::Out& out, const Entry& entry, const std::string& name) {
  if (out.display.json)
    out.json("doc", {{"name", nameOf(entry)}, {"what", kindOf(*entry.decl)}, {"documentation", entry.decl->documentation}});
  else
    printEntry(out, kindOf(*entry.decl), name, firstSentence(*entry.decl));
}

/// Every public declaration of a module, a line each. False where there is no such module.
bool listModule(show::Out& out, const std::vector<Entry>& all, const std::string& module) {
  bool any = false;
  for (const Entry& entry : all) {
    if (entry.module != module) continue;
    any = true;
    printLine(out, entry, entry.decl->name.text);
  }
  return any;
}

void printDeclaration(show::Out& out, const Session& session, const Entry& entry) {
  const ast::Decl& decl = *entry.decl;
  const std::string name = nameOf(entry), text = definition(session, decl);
  if (out.display.json) {
    out.json("doc", {{"name", name}, {"what", kindOf(decl)}, {"documentation", decl.documentation}, {"definition", text}});
    return;
  }
  out.print("{} {}  ({})\n\n", kindOf(decl), name, session.sources.describe(decl.name.range.begin));
  if (!decl.documentation.empty()) out.print("{}\n\n", decl.documentation);
  out.print("{}\n", text);
}

constexpr const char* kWord = "word";  // what a word of the language is, where a declaration is an operator

/// A section of the words of the language, which `word` is one of.
void printWord(show::Out& out, std::string_view word, const show::WordSection& section) {
  if (out.display.json)
    out.json("doc", {{"name", word}, {"what", kWord}, {"documentation", section.text}});
  else
    out.print("{} {}  (docs/words.md)\n\n{}\n", kWord, word, section.text);
}

/// What may have been meant by a name that the standard library and the language do not have.
std::string unknownName(const std::string& name, const std::vector<Entry>& all) {
  std::set<std::string> names, own;
  for (const Entry& entry : all) {
    names.insert(entry.decl->name.text);
    if (entry.module.empty()) own.insert(entry.decl->name.text);
  }
  constexpr std::size_t kTooShort = 2;  // letters of a word that says nothing of what was meant: `h`, `ms`
  for (const show::WordSection& section : show::languageWords()) {
    for (const std::string_view word : section.words) {
      if (word.size() > kTooShort) names.emplace(word);
    }
  }
  const std::string_view network = sema::asTorchvision(name);
  const std::string close = nearest(name, {names.begin(), names.end()});
  std::string meant = close.empty() ? "" : fmt::format(": did you mean `{}`?", close);
  if (!network.empty()) meant = fmt::format(": torchvision's is `{}` here", network);
  if (const std::string_view packages = sema::absentFamily(name); !packages.empty() && network.empty())
    meant = fmt::format(": it is a network of {}", packages);
  if (const std::string ofProgram = nearest(name, {own.begin(), own.end()}); !ofProgram.empty())
    meant = fmt::format(": did you mean `{}`?", ofProgram);
  return fmt::format("the standard library has no `{}`{}", name, meant);
}

/// What the library's file is about, by its name: "pooling" of stdlib/nn/pooling.tbem; "" for a program of the user's.
std::string topicOf(const Session& session, const Entry& entry) {
  if (entry.module.empty()) return {};
  const std::string place = session.sources.describe(entry.decl->name.range.begin);
  const std::size_t end = place.find(".tbem:");
  if (end == std::string::npos) return {};
  const std::size_t folder = place.rfind('/', end);
  return place.substr(folder + 1, end - folder - 1);
}

Documented documentedOf(const Session& session, const Entry& entry) {
  const ast::Decl& decl = *entry.decl;
  return {{decl.name.text}, firstSentence(decl), decl.documentation, topicOf(session, entry)};
}

/// Without its program: what that calls is not what the word is for.
Documented documentedOf(const show::WordSection& section) {
  return {{section.words.begin(), section.words.end()},
          firstSentence(show::firstParagraph(section)),
          std::string(section.text.substr(0, section.text.find("\n```"))),
          ""};
}

/// A line of what a search finds: a declaration, or a section of the words of the language.
struct Hit {
  int fits = 0;
  const Entry* entry = nullptr;
  const show::WordSection* section = nullptr;
};

void printHit(show::Out& out, const Hit& hit, const SearchWords& search) {
  if (hit.entry != nullptr) return printLine(out, *hit.entry, nameOf(*hit.entry));
  // The word that was looked for; the first of the section where the search found its text.
  const std::string word(search.firstAmong(hit.section->words).value_or(hit.section->words.front()));
  if (out.display.json)
    printWord(out, word, *hit.section);
  else
    printEntry(out, kWord, word, firstSentence(show::firstParagraph(*hit.section)));
}

}  // namespace

void printLibrary(show::Out& out, const Workspace& workspace) {
  bool first = true;
  for (const Entry& entry : entries(*workspace.program)) {
    if (entry.module.empty()) continue;
    if (!first && !out.display.json) out.print("\n");
    first = false;
    printDeclaration(out, workspace.session, entry);
  }
}

void listProgram(show::Out& out, const Workspace& workspace) { listModule(out, entries(*workspace.program), ""); }

tl::expected<void, Failed> searchDocs(show::Out& out, const Workspace& workspace, const std::string& words) {
  const SearchWords search(words);
  const std::vector<Entry> all = entries(*workspace.program);
  std::vector<Hit> hits;
  for (const Entry& entry : all) hits.push_back({search.fit(documentedOf(workspace.session, entry)), &entry, nullptr});
  for (const show::WordSection& section : show::languageWords())
    hits.push_back({search.fit(documentedOf(section)), nullptr, &section});
  std::erase_if(hits, [](const Hit& hit) { return hit.fits == 0; });
  std::ranges::stable_sort(hits, std::ranges::greater(), &Hit::fits);
  for (const Hit& hit : hits) printHit(out, hit, search);
  if (!hits.empty()) return {};
  return failed(kUsage, fmt::format("nothing is found for `{}`: each word is looked for in names and documentation", words));
}

tl::expected<void, Failed> printDoc(show::Out& out, const Workspace& workspace, const std::string& name) {
  const std::vector<Entry> all = entries(*workspace.program);
  if (listModule(out, all, name)) return {};
  bool any = false;
  for (const Entry& entry : all) {
    if (name != entry.decl->name.text && name != nameOf(entry)) continue;
    any = true;
    printDeclaration(out, workspace.session, entry);
  }
  for (const show::WordSection* section : show::sectionsOf(name)) {
    if (any && !out.display.json) out.print("\n");
    any = true;
    printWord(out, name, *section);
  }
  if (any) return {};
  return failed(kUsage, unknownName(name, all));
}

}  // namespace tbem::driver
