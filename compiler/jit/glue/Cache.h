// Compiled objects on disk. A file holds a magic word, the key, the sizes, a checksum and the objects; it is written under a
// temporary name and renamed, so a reader sees all of it or nothing. A file that does not fit its checksum counts as absent.
#pragma once

#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::jit {

/// XXH3, 128 bits, as 32 hexadecimal digits.
std::string hashKey(std::string_view bytes);

struct CacheEntry {
  std::vector<std::string> objects;
};

/// DIR/xy/KEY.obj, xy: the key's first two digits.
std::string cachePath(const std::string& dir, const std::string& key);
/// The entry, or nothing where it is absent, damaged, or in a place that others can write (support/PrivateFolder.h); `note` then
/// says which, "" for absent.
std::optional<CacheEntry> readCache(const std::string& dir, const std::string& key, std::string& note);
/// The entry of a file's bytes; nothing where they are damaged or another key's.
std::optional<CacheEntry> unpackCache(const std::string& key, std::string_view file);
/// The file's bytes around a body: the magic word and the body's checksum.
std::string sealCache(std::string_view body);
/// "" or why it could not be written (path and reason). Folders that are missing are made for the caller alone.
std::string writeCache(const std::string& dir, const std::string& key, const CacheEntry& entry);

}  // namespace tbem::jit
