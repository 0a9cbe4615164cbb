#include "compiler/foreign/Job.h"

#include "compiler/foreign/Answer.h"
#include "compiler/foreign/Engines.h"
#include "compiler/process/Runners.h"
#include "compiler/worker/RowFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <utility>

namespace tbem::foreign {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::string_view kRunner = "framework.py", kMeters = "meters.py";

/// What every program reads from its standard input.
Json toldOf(const runtime::Case& key, const Terms& terms, std::uint64_t memory) {
  const runtime::ProtocolSettings& protocol = terms.protocol;
  return {{"design", key.design},
          {"row", key.row},
          {"levels", Json::parse(key.levels)},
          {"repeat", key.repeat},
          {"seed", terms.seed},
          {"threads", terms.threads},
          {"protocol",
           {{"warmup", protocol.warmup},
            {"steps", protocol.steps},
            {"min_seconds", protocol.minSeconds},
            {"max_steps", protocol.maxSteps}}},
          {"limits",
           {{"seconds", terms.timeLimit > 0 ? Json(terms.timeLimit) : Json()}, {"bytes", memory > 0 ? Json(memory) : Json()}}}};
}

/// The words of a command, as a shell parts them where nothing is quoted: enough to find files among them.
std::vector<std::string> wordsOf(const std::string& command) {
  std::vector<std::string> words(1);
  for (const char letter : command) {
    if (std::string_view(" \t\n;|&<>()\"'").find(letter) == std::string_view::npos)
      words.back() += letter;
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

}  // namespace

measure::Command commandJob(const Backend& backend, const Surroundings& surroundings, const runtime::Case& key,
                            const Terms& terms) {
  measure::Command job;
  job.argv = {"/bin/sh", "-c", backend.command};
  job.input = toldOf(key, terms, backend.memory).dump() + "\n";
  job.folder = surroundings.folder;
  job.timeLimit = terms.timeLimit;
  job.memoryLimit = backend.memory;
  return job;
}

measure::Command frameworkJob(const Backend& backend, const Surroundings& surroundings, const std::string& program,
                              const runtime::Case& key, const Terms& terms) {
  Json told = toldOf(key, terms, 0);
  told["framework"] = backend.framework->name;
  const Engine* const engine = backend.framework->engine;
  told["backend"] = engine == nullptr ? Json() : Json(engine->name);
  told["program"] = program;
  told["device"] = backend.device;
  told["compile"] = backend.compile;
  measure::Command job;
  job.argv = {pythonOf(backend, surroundings), "-B", "-c", driver::runnerText(kRunner), driver::runnerText(kMeters)};
  job.input = told.dump() + "\n";
  job.timeLimit = terms.timeLimit;
  return job;
}

std::string identityOfCommand(const Backend& backend, const Surroundings& surroundings, const std::string& levels) {
  std::string text = fmt::format("command {}\nmemory {}\nlevels {}\n", Json(backend.command).dump(), backend.memory, levels);
  for (const std::string& word : wordsOf(backend.command)) {
    const fs::path path = fs::path(surroundings.folder) / word;
    std::error_code unknown;
    if (!word.empty() && fs::is_regular_file(path, unknown)) text += fmt::format("file {} {}\n", word, driver::libraryHash(path));
  }
  return text;
}

std::string identityOfProgram(const Backend& backend, const std::string& program, const std::string& versions) {
  return fmt::format("framework {}\ndevice {}\ncompile {}\nversions {}\nrunner {}{}\nprogram {}\n", nameOf(*backend.framework),
                     backend.device, backend.compile, versions, driver::runnerText(kRunner), driver::runnerText(kMeters),
                     program);
}

runtime::Measurement run(const measure::Command& job) { return measure::runChild(job, {"the program", 6, &readAnswer}); }

}  // namespace tbem::foreign
