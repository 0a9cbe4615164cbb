#include "compiler/devices/EnginesFile.h"

#include "compiler/jit/glue/Cache.h"
#include "runtime/core/Fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
  engine.knobs.reserve(std::min(kMostKnobs, static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) + 1));
  while (!text.empty()) {
    std::int64_t type = 0, value = 0;
    if (engine.knobs.size() >= kMostKnobs || !takeNumber(text, type) || !takeNumber(text, value)) return false;
    engine.knobs.insert(engine.knobs.end(), {type, value});
  }
  return true;
}

bool readList(std::string_view line, std::vector<cudnn::Engine>& engines) {
  engines.reserve(std::min(kMostEngines, static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1));
  while (!line.empty()) {
    if (engines.size() >= kMostEngines || !readEngine(takeUntil(line, '\t'), engines.emplace_back())) return false;
  }
  return true;
}

/// Whether it is how a problem is described. Attention is never read again, only looked for.
bool isProblem(std::string_view text) {
  if (text.starts_with("attention ") || text.starts_with("attention_gradient ")) return true;
  const auto known = cudnn::readConvolution(text);
  return known && cudnn::describe(*known) == text;
}

bool readLine(std::string_view line, EngineAnswers& answers) {
  const std::string_view list = takeUntil(line, '\t');
  const std::string_view problem = takeUntil(line, '\t');
  if ((list != "h" && list != "f") || !isProblem(problem)) return false;
  std::vector<cudnn::Engine> engines;
  if (!readList(line, engines)) return false;
  return answers.lists.emplace(fmt::format("{}\t{}", list, problem), std::move(engines)).second;
}

struct Head {
  std::string asked, version;
};
/// What stands before the answers; what is left of the text are they. Nothing: it is no such file.
std::optional<Head> readHead(std::string_view& text) {
  if (takeUntil(text, '\n') != kMagic) return std::nullopt;
  const std::string_view sum = takeUntil(text, '\n');
  if (jit::hashKey(text) != sum) return std::nullopt;
  Head head;
  head.asked = takeUntil(text, '\n');
  head.version = takeUntil(text, '\n');
  return head;
}

}  // namespace

std::string engineKey(cudnn::List list, const cudnn::Problem& problem) {
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

std::optional<KeptEngines> KeptEngines::open(std::string text, const std::string& asked) {
  auto kept = open(std::move(text));
  return kept && kept->asked() == asked ? std::move(kept) : std::nullopt;
}

std::optional<KeptEngines> KeptEngines::open(std::string text) {
  KeptEngines kept;
  kept.text = std::make_unique<const std::string>(std::move(text));
  std::string_view rest = *kept.text;
  auto head = readHead(rest);
  if (!head) return std::nullopt;
  kept.question = std::move(head->asked);
  kept.ofCudnn = std::move(head->version);
  while (!rest.empty()) {
    const std::string_view line = takeUntil(rest, '\n');
    const std::size_t key = line.find('\t', std::min(line.size(), line.find('\t') + 1));  // behind list and problem
    kept.lines.emplace(line.substr(0, key), key == std::string_view::npos ? std::string_view() : line.substr(key + 1));
  }
  return kept;
}

std::optional<std::vector<cudnn::Engine>> KeptEngines::find(const std::string& key) const {
  const auto line = lines.find(key);
  std::vector<cudnn::Engine> engines;
  if (line == lines.end() || !readList(line->second, engines)) return std::nullopt;
  return engines;
}

std::optional<EngineAnswers> parseEngines(std::string_view text, const std::string& asked) {
  auto head = readHead(text);
  if (!head || head->asked != asked) return std::nullopt;
  EngineAnswers answers;
  answers.version = std::move(head->version);
  while (!text.empty()) {
    if (!readLine(takeUntil(text, '\n'), answers)) return std::nullopt;
  }
  return answers;
}

}  // namespace tbem::driver
