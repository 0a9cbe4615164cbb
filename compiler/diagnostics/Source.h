// Source texts and places in them.
//
// A place (`Loc`) is one 32-bit offset into the concatenation of all sources of a session, so a range is 8 bytes and
// every node, operator and plan step can carry one. Lines and columns are computed only when something is printed.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tbem {

/// Offset in the session's address space of sources. 0 means "no place": the first source starts at 1.
using Loc = std::uint32_t;

/// Half-open range of text. Both ends lie in the same source.
struct SrcRange {
  Loc begin = 0;
  Loc end = 0;
  bool valid() const { return begin != 0; }
  friend bool operator==(const SrcRange&, const SrcRange&) = default;
};

/// The smallest range that covers both; an invalid range is neutral.
SrcRange cover(SrcRange a, SrcRange b);

/// A place as a person names it. Lines and columns count from 1; columns count code points.
struct LineColumn {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// One file, standard-library module, or text given by `-e`.
struct Source {
  std::string name;                       ///< as the user named it, or `<std>/nn.tbem`, `<-e>`, `<stdin>`
  std::string text;                       ///< UTF-8
  Loc base = 0;                           ///< Loc of the first byte
  std::vector<std::uint32_t> lineStarts;  ///< byte offsets within `text`
};

/// Bytes that a text may have: far more than anybody writes, and little enough to be read and parsed.
constexpr std::uint64_t kMostText = std::uint64_t{64} << 20U;

/// Owns all sources of a session. Sources are never removed; addresses stay valid.
class SourceManager {
public:
  const Source& add(std::string name, std::string text);
  /// Reads a regular file of at most kMostText bytes. Errors: path, reason, errno (runtime/files/Read.h).
  tl::expected<const Source*, std::string> addFile(const std::string& path);
  const Source* find(Loc loc) const;
  std::string_view text(SrcRange range) const;
  LineColumn lineColumn(Loc loc) const;
  /// The whole line that holds `loc`, without its line end.
  std::string_view line(Loc loc) const;
  /// "file:line:column", or "" for no place.
  std::string describe(Loc loc) const;
  const std::deque<Source>& all() const { return sources; }

private:
  std::deque<Source> sources;
  Loc next = 1;
};

/// The text of a range on one line: every run of white space is one blank.
std::string sourceText(const SourceManager& sources, SrcRange range);

}  // namespace tbem
