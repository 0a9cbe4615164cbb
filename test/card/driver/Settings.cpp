#include "test/card/run/Settings.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace tbem::card {
namespace {

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

template <class T>
T number(const char* name, std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument(std::string(name) + ": `" + std::string(text) + "` is no number");
  return value;
}

/// BYTES or BYTES:MORE, where the variable is set.
void readBytes(const char* name, std::uint64_t& bytes, std::uint64_t& more) {
  const std::string_view text = variable(name);
  if (text.empty()) return;
  const std::size_t colon = std::min(text.find(':'), text.size());
  bytes = number<std::uint64_t>(name, text.substr(0, colon));
  if (colon < text.size()) more = number<std::uint64_t>(name, text.substr(colon + 1));
}

/// Calls `use` with each part between commas.
template <class Use>
void forParts(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    use(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

/// As CUDA reads it: numbers and UUIDs, or what they begin with, up to the first that is none.
std::vector<unsigned> visibleOf(const char* text, unsigned cards) {
  std::vector<unsigned> visible;
  if (text == nullptr) {
    for (unsigned card = 0; card < cards; ++card) visible.push_back(card);
    return visible;
  }
  bool isValid = true;
  forParts(text, [&](std::string_view part) {
    unsigned card = 0;
    while (card < cards && part != std::to_string(card) && !(part.starts_with("GPU-") && uuidOf(card).starts_with(part))) ++card;
    isValid = isValid && card < cards;
    if (isValid) visible.push_back(card);
  });
  return visible;
}

}  // namespace

std::string uuidOf(unsigned card) {
  const std::string number = std::to_string(card);
  return "GPU-7465626d-0000-0000-0000-" + std::string(12 - number.size(), '0') + number;
}

Settings settingsOfEnvironment() {
  Settings settings;
  if (const auto text = variable("TBEM_CARD_MEMORY"); !text.empty())
    settings.memory = number<std::uint64_t>("TBEM_CARD_MEMORY", text);
  if (const auto text = variable("TBEM_CARD_SM"); !text.empty()) {
    if (text.size() < 3 || text[text.size() - 2] != '.')
      throw std::invalid_argument("TBEM_CARD_SM: expected a number such as 9.0");
    const auto major = number<unsigned>("TBEM_CARD_SM", text.substr(0, text.size() - 2));
    settings.computeCapability = major * 10 + number<unsigned>("TBEM_CARD_SM", text.substr(text.size() - 1));
  }
  forParts(variable("TBEM_CARD_CHECKS"), [&](std::string_view part) {
    if (part == "-written")
      settings.written = false;
    else if (part == "-races")
      settings.races = false;
    else
      throw std::invalid_argument("TBEM_CARD_CHECKS: expected -written or -races, found `" + std::string(part) + "`");
  });
  if (const auto text = variable("TBEM_CARD_ORDER"); text == "backward")
    settings.backward = true;
  else if (!text.empty() && text != "forward")
    throw std::invalid_argument("TBEM_CARD_ORDER: expected forward or backward");
  settings.report = variable("TBEM_CARD_REPORT");
  readBytes("TBEM_CARD_CONTEXT", settings.context, settings.late);
  readBytes("TBEM_CARD_CODE", settings.module, settings.graph);
  if (const auto text = variable("TBEM_CARD_COUNT"); !text.empty()) {
    const std::size_t plus = std::min(text.find('+'), text.size());
    if (plus < text.size()) settings.others = number<unsigned>("TBEM_CARD_COUNT", text.substr(plus + 1));
    settings.cards = number<unsigned>("TBEM_CARD_COUNT", text.substr(0, plus)) + settings.others;
  }
  settings.visible = visibleOf(std::getenv("CUDA_VISIBLE_DEVICES"), settings.cards);
  settings.left = variable("TBEM_CARD_LEFT");
  settings.counted = variable("TBEM_CARD_CALLS");
  settings.keep = variable("TBEM_CARD_KEEP");
  forParts(variable("TBEM_CARD_FAIL"), [&](std::string_view part) {
    const std::size_t colon = part.find(':'), equal = part.find('=');
    if (colon == std::string_view::npos || equal == std::string_view::npos || equal < colon)
      throw std::invalid_argument("TBEM_CARD_FAIL: expected FUNCTION:CALL=ERROR, found `" + std::string(part) + "`");
    const auto call = number<unsigned>("TBEM_CARD_FAIL", part.substr(colon + 1, equal - colon - 1));
    settings.failures[std::string(part.substr(0, colon))][call] = number<int>("TBEM_CARD_FAIL", part.substr(equal + 1));
  });
  return settings;
}

}  // namespace tbem::card
