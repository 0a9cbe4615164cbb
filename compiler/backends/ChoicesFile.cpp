#include "compiler/backends/ChoicesFile.h"

#include "compiler/jit/glue/Cache.h"
#include "runtime/core/Fields.h"
#include "tbem/backend.h"

#include <fmt/format.h>

namespace tbem::driver {

using runtime::readNumber;
using runtime::takeUntil;

namespace {

constexpr std::string_view kMagic = "tbemc algorithms 4";

/// One line of the file; false where it is none.
bool readLine(std::string_view line, estimate::Choices& choices) {
  const std::string key(takeUntil(line, '\t'));
  estimate::Choice choice;
  if (key.empty() || !readNumber(takeUntil(line, '\t'), choice.algorithm)) return false;
  while (!line.empty()) {
    double seconds = 0;
    if (choice.seconds.size() == TBEM_MAX_ALGORITHMS || !readNumber(takeUntil(line, '\t'), seconds)) return false;
    choice.seconds.push_back(seconds);
  }
  if (choice.algorithm < 0 || static_cast<std::size_t>(choice.algorithm) >= choice.seconds.size()) return false;
  choices.emplace(key, std::move(choice));
  return true;
}

}  // namespace

std::string sealChoices(std::string_view body) { return fmt::format("{}\n{}\n{}", kMagic, jit::hashKey(body), body); }

std::string choicesText(const std::string& device, const estimate::Choices& choices) {
  std::string body = device + "\n";
  for (const auto& [key, choice] : choices) {
    body += fmt::format("{}\t{}", key, choice.algorithm);
    for (const double seconds : choice.seconds) body += fmt::format("\t{:.6g}", seconds);
    body += "\n";
  }
  return sealChoices(body);
}

bool parseChoices(std::string_view text, const std::string& device, estimate::Choices& choices) {
  if (takeUntil(text, '\n') != kMagic) return false;
  const std::string_view sum = takeUntil(text, '\n');
  if (jit::hashKey(text) != sum || takeUntil(text, '\n') != device) return false;
  while (!text.empty()) {
    if (!readLine(takeUntil(text, '\n'), choices)) return false;
  }
  return true;
}

}  // namespace tbem::driver
