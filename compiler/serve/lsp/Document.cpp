#include "compiler/serve/lsp/Document.h"

#include "compiler/support/Bug.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tbem::serve {

namespace {
constexpr std::string_view kFile = "file://";
constexpr int kHex = 16;

bool staysInUri(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/-._~").find(c) != std::string_view::npos;
}
}  // namespace

std::string pathOf(const std::string& uri) {
  if (!uri.starts_with(kFile)) return uri;
  // Behind the slashes a host may stand, which is this one.
  const std::size_t begin = uri.find('/', kFile.size());
  if (begin == std::string::npos) return uri;
  std::string path;
  for (std::size_t at = begin; at < uri.size(); ++at) {
    unsigned byte = 0;
    const char* const digits = uri.data() + at + 1;
    if (uri[at] == '%' && at + 2 < uri.size() && std::from_chars(digits, digits + 2, byte, kHex).ptr == digits + 2) {
      path += static_cast<char>(byte);
      at += 2;
    } else {
      path += uri[at];
    }
  }
  return path;
}

std::string uriOf(const std::string& path) {
  std::error_code unknown;
  std::string whole = std::filesystem::absolute(path, unknown).string();
  if (unknown) whole = path;
  std::string uri(kFile);
  for (const char c : whole) uri += staysInUri(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return uri;
}

Document::Document(std::string uri, Text text, std::int64_t version, const sema::LoadOptions& load, Events& events)
    : uri(std::move(uri)), path(pathOf(this->uri)), current(std::move(text)), number(version), session(load, events) {}

void Document::change(Text text, std::int64_t version) {
  current = std::move(text);
  number = version;
  read.reset();
  checked = begun = false;
  awaited = 0;
  known.reset();
}

bool Document::takeCosts(std::uint64_t job, Costs costs) {
  if (awaited == 0 || job != awaited) return false;
  known = std::move(costs);
  return true;
}

const Reading& Document::reading() {
  if (!read) {
    read.emplace(session.read(path, current.all()));
    begun = false;
  }
  return *read;
}

void Document::beginCheck() {
  if (begun) read.reset();
  reading();
}

const Session& Document::check() {
  begun = true;
  try {
    const Session& told = session.check();
    checked = true;
    return told;
  } catch (const Bug&) {
    read.reset();
    throw;
  }
}

}  // namespace tbem::serve
