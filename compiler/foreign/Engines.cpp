#include "compiler/foreign/Engines.h"

#include <fmt/format.h>

#include <vector>

namespace tbem::foreign {

namespace {

std::vector<std::string> packagesOf(const Framework& framework) {
  std::vector<std::string> packages = {framework.package};
  if (const Engine* const engine = engineOf(framework); engine != nullptr)
    packages.insert(packages.end(), engine->packages.begin(), engine->packages.end());
  return packages;
}

}  // namespace

std::string nameOf(const Framework& framework) {
  const Engine* const engine = engineOf(framework);
  return engine == nullptr ? framework.name : fmt::format("{}(backend: \"{}\")", framework.name, engine->name);
}

std::string missingPackage(const PythonFacts& facts, const Framework& framework) {
  for (const std::string& package : packagesOf(framework))
    if (!facts.packages.contains(package)) return package;
  return "";
}

std::string packagesText(const PythonFacts& facts, const Framework& framework) {
  std::string text;
  for (const std::string& package : packagesOf(framework))
    if (const auto known = facts.packages.find(package); known != facts.packages.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", package, known->second);
  return text;
}

}  // namespace tbem::foreign
