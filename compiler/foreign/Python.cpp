#include "compiler/foreign/Python.h"

#include "compiler/foreign/Engines.h"
#include "compiler/process/Runners.h"
#include "runtime/measure/Child.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace tbem::foreign {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr double kMostSeconds = 120;  ///< the first import of a framework reads it from a cold disk

/// What the script tools/runners/look.py answers, in this Python.
tl::expected<Json, std::string> ask(const std::string& python, const std::vector<std::string>& about) {
  measure::Command command;
  command.argv = {python, "-B", "-c", driver::runnerText("look.py")};
  command.argv.insert(command.argv.end(), about.begin(), about.end());
  command.timeLimit = kMostSeconds;
  const auto outcome = measure::spawn(command);
  if (!outcome) return tl::unexpected(outcome.error());
  if (outcome->timedOut) return tl::unexpected(fmt::format("{} did not answer within {} s", python, kMostSeconds));
  Json answer = Json::parse(outcome->output, nullptr, false);
  if (outcome->exitCode == 0 && answer.is_object()) return answer;
  const std::string said = measure::lastLines(outcome->errorTail, 1);
  return tl::unexpected(fmt::format("{} cannot be used{}{}", python, said.empty() ? "" : ": ", said));
}

}  // namespace

std::string pythonOf(const Backend& backend, const Surroundings& surroundings) {
  if (!backend.python.empty()) {
    const bool isWord = backend.python.find('/') == std::string::npos;
    return isWord ? backend.python : (fs::path(surroundings.folder) / backend.python).string();
  }
  if (!surroundings.python.empty()) return surroundings.python;
  if (const char* active = std::getenv("VIRTUAL_ENV"); active != nullptr && *active != '\0') {
    const fs::path own = fs::path(active) / "bin" / "python3";
    std::error_code unknown;
    if (fs::exists(own, unknown)) return own.string();
  }
  return "python3";
}

tl::expected<PythonFacts, std::string> lookAt(const std::string& python) {
  std::vector<std::string> packages;
  for (const Framework& framework : frameworks()) std::ranges::move(packagesOf(framework), std::back_inserter(packages));
  auto answer = ask(python, packages);
  if (!answer) return tl::unexpected(answer.error());
  PythonFacts facts;
  facts.program = python;
  facts.version = answer->value("version", "");
  facts.allocator = answer->value("allocator", "");
  for (const auto& [name, version] : (*answer)["packages"].items()) facts.packages[name] = version.get<std::string>();
  return facts;
}

std::string versionsText(const PythonFacts& facts, const Framework& framework) {
  const std::string missing = missingPackage(facts, framework);
  return fmt::format("{}, Python {}, {}", missing.empty() ? packagesText(facts, framework) : missing + " missing", facts.version,
                     facts.allocator);
}

tl::expected<std::string, std::string> cardOf(const std::string& python, const Framework& framework) {
  auto answer = ask(python, {"--card", framework.name});
  if (!answer) return tl::unexpected(answer.error());
  if (answer->value("card", "").empty()) return tl::unexpected(answer->value("why", "it sees no card"));
  return answer->value("card", "");
}

}  // namespace tbem::foreign
