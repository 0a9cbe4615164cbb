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

#include <set>
#include <string_view>
#include <vector>

namespace tbem::driver {

namespace {

struct Entry {
  const ast::Decl* decl;
  std::string module;
};

/// Every public named declaration of the standard library.
std::vector<Entry> entries(const sema::Program& program) {
  std::vector<Entry> found;
  for (const auto& module : program.modules()) {
    if (!module->isStandard) continue;
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) {
        if (sema::isNamed(*decl) && !decl->isPrivate) found.push_back({decl, module->name});
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

/// Every public declaration of a module, a line each. False where there is no such module.
bool listModule(show::Out& out, const std::vector<Entry>& all, const std::string& module) {
  bool any = false;
  for (const Entry& entry : all) {
    if (entry.module != module) continue;
    any = true;
    const std::string& name = entry.decl->name.text;
    if (out.display.json)
      out.json(
          "doc",
          {{"name", entry.module + "." + name}, {"what", kindOf(*entry.decl)}, {"documentation", entry.decl->documentation}});
    else
      printEntry(out, kindOf(*entry.decl), name, firstSentence(*entry.decl));
  }
  return any;
}

void printDeclaration(show::Out& out, const Session& session, const Entry& entry) {
  const ast::Decl& decl = *entry.decl;
  const std::string name = entry.module + "." + decl.name.text, text = definition(session, decl);
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

}  // namespace

tl::expected<void, Failed> printDoc(show::Out& out, const Workspace& workspace, const std::string& name) {
  const std::vector<Entry> all = entries(*workspace.program);
  if (listModule(out, all, name)) return {};
  bool any = false;
  for (const Entry& entry : all) {
    if (name != entry.decl->name.text && name != entry.module + "." + entry.decl->name.text) continue;
    any = true;
    printDeclaration(out, workspace.session, entry);
  }
  if (any) return {};
  return failed(kUsage, unknownName(name, all));
}

}  // namespace tbem::driver
