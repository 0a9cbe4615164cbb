#include "compiler/jit/glue/Cache.h"

#include "compiler/jit/loop/Bytes.h"
#include "compiler/support/PrivateFolder.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace tbem::jit {
namespace {

constexpr std::string_view kMagic = "tbem-obj-1\n";

std::string pack(const std::string& key, const CacheEntry& entry) {
  Bytes body;
  body.string(key);
  body.number(entry.objects.size());
  for (const std::string& object : entry.objects) body.string(object);
  return sealCache(body.text);
}

/// Reads what Bytes wrote; `bad` once anything does not fit.
struct Reader {
  std::string_view text;
  bool bad = false;
  std::uint64_t number() {
    if (text.size() < 8) {
      bad = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[static_cast<std::size_t>(i)])) << (8 * i);
    text.remove_prefix(8);
    return value;
  }
  std::string string() {
    const std::uint64_t size = number();
    if (bad || size > text.size()) {
      bad = true;
      return {};
    }
    std::string value(text.substr(0, size));
    text.remove_prefix(size);
    return value;
  }
};

}  // namespace

std::string hashKey(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string sealCache(std::string_view body) { return std::string(kMagic) + hashKey(body) + std::string(body); }

std::optional<CacheEntry> unpackCache(const std::string& key, std::string_view file) {
  if (file.substr(0, kMagic.size()) != kMagic || file.size() < kMagic.size() + 32) return std::nullopt;
  file.remove_prefix(kMagic.size());
  const std::string_view sum = file.substr(0, 32), body = file.substr(32);
  if (hashKey(body) != sum) return std::nullopt;
  Reader reader{body};
  if (reader.string() != key) return std::nullopt;
  CacheEntry entry;
  for (std::uint64_t n = reader.number(); n > 0 && !reader.bad; --n) entry.objects.push_back(reader.string());
  if (reader.bad || !reader.text.empty()) return std::nullopt;
  return entry;
}

std::string cachePath(const std::string& dir, const std::string& key) {
  return fmt::format("{}/{}/{}.obj", dir, key.substr(0, 2), key);
}

std::optional<CacheEntry> readCache(const std::string& dir, const std::string& key, std::string& note) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30U;
  const std::string path = cachePath(dir, key);
  const auto file = readPrivate(dir, path, kMost);  // what is read here is run
  if (!file) {
    note = file.error();
    return std::nullopt;
  }
  if (!*file) return std::nullopt;
  auto entry = unpackCache(key, **file);
  if (!entry) note = fmt::format("{} is damaged; it is compiled again", path);
  return entry;
}

std::string writeCache(const std::string& dir, const std::string& key, const CacheEntry& entry) {
  return writePrivate(dir, cachePath(dir, key), pack(key, entry));
}

}  // namespace tbem::jit
