// ZIP archives (APPNOTE.TXT 6.3, with ZIP64 when read): what .npz files and those of torch.save are.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

struct ZipEntry {
  std::string name;
  std::uint64_t method = 0, crc = 0, packed = 0, size = 0, offset = 0;
};

/// The archive's directory. Entries together are no larger than the archive, as they lie in it. Errors: what is wrong with it.
tl::expected<std::vector<ZipEntry>, std::string> zipDirectory(std::string_view archive);

/// An entry's bytes: of one that is stored a view into the archive, of a deflated one into `unpacked`, which is then filled. Its
/// checksum is compared. Errors: what is wrong with it.
tl::expected<std::string_view, std::string> zipContent(std::string_view archive, const ZipEntry& entry, std::string& unpacked);

struct ZipMember {
  std::string name, body;
};
/// Writes the members, uncompressed, in this order; equal members are equal files. Errors: path, reason, way out.
tl::expected<void, std::string> writeZip(const std::string& path, std::vector<ZipMember> members);

}  // namespace tbem::data
