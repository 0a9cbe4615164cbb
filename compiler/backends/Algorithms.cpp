#include "compiler/backends/Algorithms.h"

#include "compiler/backends/ChoicesFile.h"
#include "compiler/jit/glue/CacheFile.h"

#include <fmt/format.h>

namespace tbem::driver {

namespace {

std::string deviceLine(const std::string& backend, const tbem_device_info& device) {
  return fmt::format("{}, {}, {}, {}", backend, device.library, device.name, device.isa);
}

std::string pathOf(const std::string& line) { return cacheFilePath("algorithms", line); }

/// An absent file and a damaged one are the same here: `tune` measures again.
estimate::Choices parse(const std::string& text, const std::string& device) {
  estimate::Choices choices;
  return parseChoices(text, device, choices) ? choices : estimate::Choices{};
}

}  // namespace

estimate::Choices readChoices(const std::string& backend, const tbem_device_info& device, std::string& refused) {
  const std::string line = deviceLine(backend, device), path = pathOf(line);
  return path.empty() ? estimate::Choices{} : parse(readText(path, refused), line);
}

Opened openBackend(std::string_view name) {
  Opened opened = openUntimed(name);
  if (opened.backend != nullptr) opened.choices = readChoices(opened.backend->name, opened.device, opened.choicesRefused);
  return opened;
}

tl::expected<estimate::Choices, std::string> addChoices(const std::string& backend, const tbem_device_info& device,
                                                        const estimate::Choices& fresh) {
  const std::string line = deviceLine(backend, device), path = pathOf(line);
  if (path.empty()) return tl::unexpected(std::string("there is no folder for caches (HOME or XDG_CACHE_HOME)"));
  estimate::Choices all;
  const std::string problem = updateText(path, [&](const std::string& text) {
    all = parse(text, line);
    all.insert(fresh.begin(), fresh.end());
    return choicesText(line, all);
  });
  if (!problem.empty()) return tl::unexpected(problem);
  return all;
}

std::string algorithmsText(const estimate::Program& program, const Tuning& tuning) {
  std::string text = tuning.times() ? fmt::format("tune {}\n", driver::text(tuning)) : std::string();
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    if (program.calls[i].algorithm != 0) text += fmt::format("algorithm {} {}\n", i, program.calls[i].algorithm);
  }
  return text;
}

}  // namespace tbem::driver
