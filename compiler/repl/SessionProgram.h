// The program that entries make: declarations in the order in which they were first made. A declaration of a name that is there
// takes the place of the former one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::repl {

/// One declaration with the comments before it and behind it on its lines.
struct Piece {
  std::string key;   ///< what another one that takes its place has too: its name, or what it says where it has none
  std::string name;  ///< "" of an import and its like
  std::string text;
};

/// The declarations of a text that has no mistakes of syntax.
std::vector<Piece> piecesOf(std::string_view text);

class SessionProgram {
public:
  /// The program, which each piece begins on a new line.
  std::string text() const;
  const std::vector<Piece>& pieces() const { return list; }
  /// Puts pieces in. The names of those that took another's place.
  std::vector<std::string> put(const std::vector<Piece>& pieces);
  /// False: there is none of this name.
  bool remove(std::string_view name);
  bool has(std::string_view name) const;

  /// Where a piece stands in `text()`, in bytes.
  struct Place {
    std::size_t begin = 0, end = 0;
  };
  /// Of the pieces with these keys.
  std::vector<Place> placesOf(const std::vector<Piece>& pieces) const;

private:
  std::vector<Piece> list;
};

}  // namespace tbem::repl
