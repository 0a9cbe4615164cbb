// tbemc doc --operators: docs/operators.md, made from the declarations of std.nn and the backends' own answers.
#include "compiler/backends/Backends.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/graph/ir/Views.h"
#include "compiler/sema/Walk.h"
#include "compiler/show/Out.h"
#include "compiler/show/reference/DocText.h"
#include "compiler/show/reference/Reference.h"
#include "runtime/include/tbem/primitives.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace tbem::driver {

namespace {

/// Every expression of a block, outer ones first.
template <class Visit>
void forEachInside(const ast::Block& block, Visit&& visit) {
  const auto maybe = [&](const ast::Expr* expr) {
    if (expr != nullptr) sema::forEachInside(*expr, visit);
  };
  for (const ast::Stmt* one : block) {
    if (const auto* let = ast::dynCast<ast::Let>(one)) maybe(let->value);
    if (const auto* assign = ast::dynCast<ast::Assign>(one)) maybe(assign->value);
    if (const auto* result = ast::dynCast<ast::Return>(one)) maybe(result->value);
    if (const auto* loop = ast::dynCast<ast::For>(one)) {
      maybe(loop->domain);
      forEachInside(loop->body, visit);
    }
    if (const auto* choice = ast::dynCast<ast::IfStmt>(one)) {
      maybe(choice->condition);
      forEachInside(choice->then, visit);
      forEachInside(choice->otherwise, visit);
    }
  }
}

/// The operators of one module and what they are made of.
class Operators {
public:
  explicit Operators(const sema::Module& module) : library(module) {}

  /// The native primitives that the operator and its gradient run, through everything that they call.
  std::set<std::string> primitives(const ast::Callable& callable) const {
    std::set<std::string> found;
    std::set<const ast::Decl*> seen;
    collect(callable, found, seen);
    return found;
  }

private:
  void collect(const ast::Callable& callable, std::set<std::string>& found, std::set<const ast::Decl*>& seen) const {
    if (!seen.insert(&callable).second) return;
    const auto name = [&](const ast::Expr& inner) {
      const auto* word = ast::dynCast<ast::NameRef>(&inner);
      const auto own = word != nullptr ? library.own.find(word->name.text) : library.own.end();
      const auto* called = own != library.own.end() ? ast::dynCast<ast::Callable>(own->second) : nullptr;
      if (called != nullptr) collect(*called, found, seen);
    };
    if (callable.native != nullptr && !graph::isView(callable)) {
      const auto* word = ast::dynCast<ast::NameRef>(callable.native->callee);
      if (word != nullptr) found.insert(word->name.text);
    }
    if (callable.hasBody) forEachInside(callable.body, name);
    for (const ast::Part& part : callable.backward) sema::forEachInside(*part.value, name);
  }

  const sema::Module& library;
};

/// Whether the backend has the primitive: a query without operands.
bool has(const tbem_backend& backend, std::string_view primitive) {
  const auto* const row = std::find_if(runtime::kSignatures.begin(), runtime::kSignatures.end(),
                                       [&](const runtime::Signature& one) { return one.name == primitive; });
  if (row == runtime::kSignatures.end()) return false;
  tbem_op_desc description{};
  description.size = sizeof description;
  description.primitive = static_cast<std::int32_t>(row - runtime::kSignatures.begin());
  tbem_op_info info{};
  return backend.query(&description, &info) == TBEM_OK;
}

/// `ref cpu`: the backends that have all these primitives. Element-wise operators are compiled for any.
std::string backends(const std::set<std::string>& primitives) {
  std::string text;
  for (const char* name : {"ref", "cpu"}) {
    const Opened opened = openBackend(name);
    const bool all = opened.backend != nullptr && std::all_of(primitives.begin(), primitives.end(),
                                                              [&](const std::string& one) { return has(*opened.backend, one); });
    if (all) text += fmt::format("{}{}", text.empty() ? "" : " ", name);
  }
  return text;
}

std::string names(const std::vector<ast::Part>& parts) {
  std::string text;
  for (const ast::Part& part : parts) text += fmt::format("{}{}", text.empty() ? "" : ", ", part.name.text);
  return text;
}

std::string gradient(const ast::Callable& callable) {
  if (!callable.backward.empty()) return names(callable.backward);
  return callable.hasBody ? "of its parts" : "none";
}

std::string cost(const ast::Callable& callable) {
  if (!callable.flops.empty()) return names(callable.flops);
  if (callable.hasBody) return "of its parts";
  return callable.native != nullptr ? "none" : "of the expression";
}

void printBlocks(show::Out& out, const Workspace& workspace, const sema::Module& library) {
  if (!out.display.json) out.print("\n## Blocks\n\n| block | what it is |\n|---|---|\n");
  for (const auto& file : library.files) {
    for (const ast::Decl* decl : file->declarations) {
      const auto* callable = ast::dynCast<ast::Callable>(decl);
      if (callable == nullptr || callable->callable != ast::CallableKind::Block || decl->isPrivate) continue;
      const std::string line = signature(workspace.session, *callable);
      if (out.display.json)
        out.json("block", {{"name", decl->name.text}, {"signature", line}, {"documentation", decl->documentation}});
      else
        out.print("| `{}` | {} |\n", line, firstSentence(*decl));
    }
  }
}

}  // namespace

void printOperators(show::Out& out, const Workspace& workspace, const sema::Module& library) {
  const Operators operators(library);
  if (!out.display.json) {
    out.print(
        "# Operators\n\nThe public operators of `std.nn`, as the declarations in `stdlib/nn` and the backends say: `tbemc doc "
        "--operators` "
        "makes this file, and\na test compares. `tbemc doc NAME` prints one in full. *Runs on* counts the native primitives of "
        "an "
        "operator, of its gradient and of\nwhat they call; element-wise expressions are compiled for any backend. *Gradient*: "
        "the "
        "inputs and weights that have one. *Cost*: the\nparts that its FLOPs are counted in. Blocks, which are made of these, "
        "stand at the end.\n");
  }
  for (const auto& file : library.files) {
    bool titled = false;
    for (const ast::Decl* decl : file->declarations) {
      const auto* callable = ast::dynCast<ast::Callable>(decl);
      if (callable == nullptr || callable->callable != ast::CallableKind::Operator || decl->isPrivate) continue;
      const std::string where = backends(operators.primitives(*callable));
      if (out.display.json) {
        out.json("operator", {{"name", decl->name.text},
                              {"signature", signature(workspace.session, *callable)},
                              {"backends", where},
                              {"gradient", gradient(*callable)},
                              {"cost", cost(*callable)}});
        continue;
      }
      if (!titled) {
        const Source* source = workspace.session.sources.find(decl->range.begin);
        out.print("\n## {}\n\n| operator | runs on | gradient | cost |\n|---|---|---|---|\n",
                  source != nullptr ? std::filesystem::path(source->name).stem().string() : "");
        titled = true;
      }
      out.print("| `{}` | {} | {} | {} |\n", signature(workspace.session, *callable), where, gradient(*callable),
                cost(*callable));
    }
  }
  printBlocks(out, workspace, library);
}

}  // namespace tbem::driver
