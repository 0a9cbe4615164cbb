#include "compiler/driver/EnginesFile.h"

#include "compiler/jit/Cache.h"
#include "runtime/core/Fields.h"

#include <fmt/format.h>

namespace tbem::driver {

using runtime::readNumber;
using runtime::takeUntil;

namespace {

constexpr std::string_view kMagic = "tbemc engines 1";
constexpr std::size_t kMostEngines = 256, kMostKnobs = 128;

template <class Number>
bool takeNumber(std::string_view& text, Number& number) {
  return readNumber(takeUntil(text, ' '), number);
}

bool readEngine(std::string_view text, cudnn::Engine& engine) {
  if (!takeNumber(text, engine.index) || !takeNumber(text, engine.workspace) || !takeNumber(text, engine.numerical) ||
      !takeNumber(text, engine.behaviour))
    return false;
  while (!text.empty()) {
    std::int64_t type = 0, value = 0;
    if (engine.knobs.size() >= kMostKnobs || !takeNumber(text, type) || !takeNumber(text, value)) return false;
    engine.knobs.insert(engine.knobs.end(), {type, value});
  }
  return true;
}

bool readLine(std::string_view line, EngineAnswers& answers) {
  const std::string_view list = takeUntil(line, '\t');
  const std::string_view problem = takeUntil(line, '\t');
  const auto known = cudnn::readConvolution(problem);
  if ((list != "h" && list != "f") || !known || cudnn::describe(*known) != problem) return false;
  std::vector<cudnn::Engine> engines;
  while (!line.empty()) {
    if (engines.size() >= kMostEngines || !readEngine(takeUntil(line, '\t'), engines.emplace_back())) return false;
  }
  return answers.lists.emplace(fmt::format("{}\t{}", list, problem), std::move(engines)).second;
}

}  // namespace

std::string engineKey(cudnn::List list, const cudnn::Convolution& problem) {
  return fmt::format("{}\t{}", list == cudnn::List::Heuristic ? 'h' : 'f', cudnn::describe(problem));
}

std::string sealEngines(std::string_view body) { return fmt::format("{}\n{}\n{}", kMagic, jit::hashKey(body), body); }

std::string enginesText(const std::string& asked, const EngineAnswers& answers) {
  std::string body = fmt::format("{}\n{}\n", asked, answers.version);
  for (const auto& [key, engines] : answers.lists) {
    body += key;
    for (const cudnn::Engine& engine : engines) {
      body += fmt::format("\t{} {} {} {}", engine.index, engine.workspace, engine.numerical, engine.behaviour);
      for (const std::int64_t number : engine.knobs) body += fmt::format(" {}", number);
    }
    body += "\n";
  }
  return sealEngines(body);
}

std::optional<EngineAnswers> parseEngines(std::string_view text, const std::string& asked) {
  if (takeUntil(text, '\n') != kMagic) return std::nullopt;
  const std::string_view sum = takeUntil(text, '\n');
  if (jit::hashKey(text) != sum || takeUntil(text, '\n') != asked) return std::nullopt;
  EngineAnswers answers;
  answers.version = takeUntil(text, '\n');
  while (!text.empty()) {
    if (!readLine(takeUntil(text, '\n'), answers)) return std::nullopt;
  }
  return answers;
}

}  // namespace tbem::driver
