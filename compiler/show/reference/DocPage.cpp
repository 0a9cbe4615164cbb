#include "compiler/show/reference/DocPage.h"

#include "compiler/sema/Suggest.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "compiler/show/WrappedText.h"
#include "compiler/show/reference/DocText.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <sstream>
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

/// What may have been meant by a name that the standard library does not have.
std::string unknownName(const std::string& name, const std::vector<Entry>& all) {
  std::set<std::string> names;
  for (const Entry& entry : all) names.insert(entry.decl->name.text);
  const std::string_view network = sema::asTorchvision(name);
  const std::string close = nearest(name, {names.begin(), names.end()});
  std::string meant = close.empty() ? "" : fmt::format(": did you mean `{}`?", close);
  if (!network.empty()) meant = fmt::format(": torchvision's is `{}` here", network);
  if (const std::string_view packages = sema::absentFamily(name); !packages.empty() && network.empty())
    meant = fmt::format(": it is a network of {}", packages);
  if (sema::isBuiltin(name)) meant = ": it is a function of the language's own (docs/language.md)";
  return fmt::format("the standard library has no `{}`{}", name, meant);
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

/// Whether a word of the text begins so; a short one has to be the whole word: "he" is no "the", and no "height".
bool hasWord(const std::string& text, const std::string& word) {
  constexpr std::size_t kShort = 2;
  const auto inWord = [&](std::size_t at) { return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !inWord(at - 1);
    if (begins && (word.size() > kShort || !inWord(at + word.size()))) return true;
  }
  return false;
}

/// How well an entry fits a word: 0 is not at all.
int fit(const Entry& entry, const std::string& word, const std::string& meant) {
  constexpr int kName = 4, kPartOfName = 3, kSentence = 2, kText = 1;
  const std::string name = lower(entry.decl->name.text);
  if (name == word || name == meant) return kName;
  if (name.find(word) != std::string::npos) return kPartOfName;
  if (hasWord(lower(firstSentence(*entry.decl)), word)) return kSentence;
  return hasWord(lower(entry.decl->documentation), word) ? kText : 0;
}

/// What our name of a word is that other frameworks use: "conv2d" of "Conv2d", "resnet" of "resnet18".
std::string elsewhereCalled(const std::string& word) {
  const std::string_view ours = sema::elsewhere(word), network = sema::asTorchvision(word);
  return std::string(!ours.empty() ? ours : network.substr(0, network.find('(')));
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
  std::vector<std::pair<int, Entry>> found;
  for (const Entry& entry : entries(*workspace.program)) {
    int sum = 0;
    bool all = true;
    std::istringstream stream(words);
    for (std::string word; all && stream >> word;) {
      const int one = fit(entry, lower(word), elsewhereCalled(word));
      all = one != 0;
      sum += one;
    }
    if (all && sum != 0) found.emplace_back(sum, entry);
  }
  std::ranges::stable_sort(found, std::ranges::greater(), [](const auto& one) { return one.first; });
  for (const auto& [sum, entry] : found) printLine(out, entry, nameOf(entry));
  if (!found.empty()) return {};
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
  if (any) return {};
  return failed(kUsage, unknownName(name, all));
}

}  // namespace tbem::driver
