#include "test/card/driver/Card.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace tbem::card {
namespace {

std::unique_ptr<Card>& place() {
  static std::unique_ptr<Card> card;
  return card;
}

std::mutex& placeMutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Card& theCard() {
  const std::lock_guard lock(placeMutex());
  if (!place()) {
    try {
      place() = std::make_unique<Card>(settingsOfEnvironment());
    } catch (const std::invalid_argument& wrong) {
      // A test that is set up wrongly must not pass.
      std::fprintf(stderr, "tbemc test card: %s\n", wrong.what());
      std::abort();
    }
  }
  return *place();
}

void replaceCard(const Settings& settings) {
  const std::lock_guard lock(placeMutex());
  place() = std::make_unique<Card>(settings);
  currentContext() = nullptr;
}

namespace {
/// Writes the only line of a file of that name; an empty name is none.
void writeLine(const std::string& name, const std::string& line) {
  std::FILE* file = name.empty() ? nullptr : std::fopen(name.c_str(), "w");
  if (file == nullptr) return;
  fmt::print(file, "{}\n", line);
  std::fclose(file);
}
}  // namespace

Card::~Card() {
  const Memory::Held held = memory.held();
  writeLine(
      settings.left,
      fmt::format("{{\"allocations\": {}, \"bytes\": {}, \"modules\": {}, \"events\": {}, \"graphs\": {}, \"executables\": {}}}",
                  held.allocations, held.bytes, modules.size(), events.size(), graphs.size(), executables.size()));
  std::string counts;
  for (const auto& [function, count] : calls) counts += fmt::format("{}\"{}\": {}", counts.empty() ? "" : ", ", function, count);
  writeLine(settings.counted, "{" + counts + "}");
}

void report(const Card& card, const std::string& text) {
  std::FILE* file = card.settings.report.empty() ? stderr : std::fopen(card.settings.report.c_str(), "a");
  if (file == nullptr) file = stderr;
  std::fprintf(file, "tbemc test card: %s\n", text.c_str());
  if (file != stderr) std::fclose(file);
}

void keep(const Card& card, std::string_view text) {
  if (card.settings.keep.empty()) return;
  const std::string path = fmt::format("{}/{:016x}.ptx", card.settings.keep, std::hash<std::string_view>{}(text));
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file) != text.size()) report(card, "cannot write " + path);
  if (file != nullptr) std::fclose(file);
}

const void*& currentContext() {
  thread_local const void* context = nullptr;
  return context;
}

std::uint64_t mostSharedOf(const Settings& settings) {
  // CUDA C++ Programming Guide, table of technical specifications by compute capability.
  switch (settings.computeCapability) {
    case 75:
      return 64 << 10;
    case 80:
    case 87:
      return 163 << 10;
    case 86:
    case 89:
    case 120:
      return 99 << 10;
    default:
      return 227 << 10;
  }
}

int enter(Card& card, const char* function, const Asks& asks) {
  const unsigned call = ++card.calls[function];
  if (const auto entry = card.settings.failures.find(function); entry != card.settings.failures.end())
    if (const auto failure = entry->second.find(call); failure != entry->second.end()) return failure->second;
  if (!asks.context) return CUDA_SUCCESS;
  if (!card.initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!card.retained || currentContext() != &card) return CUDA_ERROR_INVALID_CONTEXT;
  if (card.sticky != CUDA_SUCCESS) return card.sticky;
  if (!asks.unsafeInCapture) return CUDA_SUCCESS;
  for (const auto& stream : card.streams) {
    if (!stream->capturing || stream->captureMode == 2) continue;
    stream->invalidated = true;
    report(card, fmt::format("{} while a stream captures", function));
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return CUDA_SUCCESS;
}

int submit(Card& card, void* handle, Work work) {
  if (handle == nullptr) return work(card);
  Stream* stream = find(card.streams, handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!stream->capturing) return work(card);
  if (stream->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  stream->captured.push_back(std::move(work));
  return CUDA_SUCCESS;
}

}  // namespace tbem::card
