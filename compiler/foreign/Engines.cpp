#include "compiler/foreign/Engines.h"

#include <fmt/format.h>

namespace tbem::foreign {

std::vector<std::string> packagesOf(const Framework& framework) {
  std::vector<std::string> packages = {framework.package};
  if (framework.engine != nullptr)
    packages.insert(packages.end(), framework.engine->packages.begin(), framework.engine->packages.end());
  return packages;
}

std::string nameOf(const Framework& framework) {
  if (framework.engine == nullptr) return framework.name;
  return fmt::format("{}(backend: \"{}\")", framework.name, framework.engine->name);
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
