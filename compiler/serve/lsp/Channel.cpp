#include "compiler/serve/lsp/Channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tbem::serve {

namespace {

constexpr std::string_view kBreak = "\r\n\r\n";
constexpr std::size_t kMostMessage = std::size_t{256} << 20U;  ///< bytes: far more than any text that is read

/// Of the header's field Content-Length, in any case; nothing where it is not there or no number.
std::optional<std::size_t> lengthOf(std::string_view header) {
  static constexpr std::string_view kField = "content-length:";
  while (!header.empty()) {
    const std::size_t end = std::min(header.find("\r\n"), header.size());
    std::string_view line = header.substr(0, end);
    header.remove_prefix(std::min(end + 2, header.size()));
    const auto lower = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; };
    if (line.size() < kField.size() ||
        !std::equal(kField.begin(), kField.end(), line.begin(), [&](char b, char a) { return lower(a, b); }))
      continue;
    line.remove_prefix(kField.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    std::size_t length = 0;
    const auto [rest, problem] = std::from_chars(line.data(), line.data() + line.size(), length);
    if (problem == std::errc() && rest != line.data() && length <= kMostMessage) return length;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Framing::next() {
  while (true) {
    const std::size_t end = waiting.find(kBreak);
    if (end == std::string::npos) return std::nullopt;
    const std::optional<std::size_t> length = lengthOf(std::string_view(waiting).substr(0, end));
    if (!length) {
      waiting.erase(0, end + kBreak.size());
      continue;
    }
    const std::size_t begin = end + kBreak.size();
    if (waiting.size() - begin < *length) return std::nullopt;
    std::string message = waiting.substr(begin, *length);
    waiting.erase(0, begin + *length);
    return message;
  }
}

std::string framed(std::string_view message) { return fmt::format("Content-Length: {}\r\n\r\n{}", message.size(), message); }

StreamChannel::StreamChannel(Read read, std::function<void(std::string_view)> write)
    : write(std::move(write)), reader([this, read = std::move(read)] { readAll(read); }) {}

StreamChannel::~StreamChannel() {
  {
    const std::scoped_lock lock(mutex);
    leaving = true;
  }
  reader.join();
}

void StreamChannel::readAll(const Read& read) {
  Framing framing;
  while (true) {
    const std::optional<std::string> bytes = read();
    const std::scoped_lock lock(mutex);
    if (bytes) framing.add(*bytes);
    while (std::optional<std::string> message = framing.next()) messages.push_back(std::move(*message));
    ended = leaving || (bytes && bytes->empty());
    arrived.notify_one();
    if (ended) return;
  }
}

std::optional<std::string> StreamChannel::next() {
  const std::scoped_lock lock(mutex);
  if (messages.empty()) return std::nullopt;
  std::string message = std::move(messages.front());
  messages.pop_front();
  return message;
}

bool StreamChannel::await() {
  std::unique_lock lock(mutex);
  arrived.wait(lock, [&] { return !messages.empty() || ended || woken; });
  return std::exchange(woken, false) || !messages.empty();
}

void StreamChannel::wake() {
  const std::scoped_lock lock(mutex);
  woken = true;
  arrived.notify_one();
}

}  // namespace tbem::serve
