// What names mean among the modules of a program.
#include "compiler/sema/Modules.h"

#include <set>

namespace tbem::sema {

const Module* Program::find(std::string_view name) const {
  for (const auto& module : all) {
    if (module->name == name) return module.get();
  }
  return nullptr;
}

Resolved Program::resolve(const Module& module, std::string_view name) const {
  const std::string key(name);
  if (const auto it = module.own.find(key); it != module.own.end()) return {it->second, &module};
  if (const auto it = module.imported.find(key); it != module.imported.end()) return it->second;
  if (const auto it = module.modules.find(key); it != module.modules.end()) return {nullptr, it->second};
  if (module.home != nullptr) {
    if (const auto it = module.home->own.find(key); it != module.home->own.end()) return {it->second, module.home};
  }
  for (const Module* prelude : preludes) {
    if (const auto it = prelude->own.find(key); it != prelude->own.end() && (!it->second->isPrivate || prelude == &module)) {
      return {it->second, prelude};
    }
  }
  return {};
}

Resolved Program::member(const Module& module, std::string_view name, const Module& from) const {
  const auto it = module.own.find(std::string(name));
  if (it == module.own.end() || (it->second->isPrivate && &module != &from)) return {};
  return {it->second, &module};
}

std::vector<std::string> Program::names(const Module& module) const {
  std::set<std::string> found;
  for (const auto& [name, decl] : module.own) found.insert(name);
  for (const auto& [name, what] : module.imported) found.insert(name);
  for (const auto& [name, what] : module.modules) found.insert(name);
  for (const Module* prelude : preludes) {
    for (const auto& [name, decl] : prelude->own) {
      if (!decl->isPrivate) found.insert(name);
    }
  }
  return {found.begin(), found.end()};
}

const Derivation* Program::derivation(const ast::Decl* callable) const {
  for (const auto& one : derivations) {
    if (one->result == callable) return one.get();
  }
  return nullptr;
}

const Module* Program::homeOf(const ast::Decl* callable, const Module* module, std::string_view parameter) const {
  for (const Derivation* made = derivation(callable); made != nullptr; made = derivation(callable)) {
    for (const ast::Mutate::Operation& operation : made->mutation->operations) {
      if (operation.as.text == parameter) return made->module;
    }
    callable = made->base.decl;
    module = made->base.module;
  }
  return module;
}

}  // namespace tbem::sema
