// Python's pickle format, protocols 2 to 5 (docs.python.org/3/library/pickletools.html), as far as it is data: numbers, texts,
// bytes, lists, tuples, sets, dictionaries. Nothing of a pickle is ever run: what names code (GLOBAL, REDUCE, BUILD, persistent
// ids, extensions) is refused, or, where the reader knows the name, noted as data.
#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

/// Why a pickle cannot be read, and where.
struct PickleFault {
  std::size_t offset = 0;     ///< byte of the file
  std::string cause, wayOut;  ///< one sentence each, lower case, no full stop
};

/// The values of a pickle. A value is a number that names it; one value may be part of several others, even of itself. Whoever
/// walks them goes down by the names that he expects, so a circle holds nobody.
class PickleValues {
public:
  using Value = std::uint32_t;
  enum class Kind : std::uint8_t {
    None,
    Bool,
    Integer,
    Real,
    Text,
    Bytes,
    List,        ///< tuples and sets, too
    Dictionary,  ///< keys and values in turn
    Name,        ///< of a function or class: its module and itself, two texts
    Call,        ///< of a name: that and the list of its arguments
    External     ///< what lies beside the pickle, by the persistent id that is its one item
  };

  Value root() const { return top; }
  /// All values are below it.
  Value count() const { return static_cast<Value>(nodes.size()); }
  /// Bytes of the file up to the pickle's end.
  std::size_t size() const { return end; }
  Kind kind(Value value) const { return nodes[value].kind; }
  /// Of Bool and Integer; an integer over 64 bits is a Real.
  std::int64_t integer(Value value) const { return static_cast<std::int64_t>(nodes[value].number); }
  double real(Value value) const;
  /// Of Text (UTF-8 as it stands in the file) and Bytes.
  std::string_view text(Value value) const { return file.substr(nodes[value].number, nodes[value].length); }
  /// Of a List and the kinds below it.
  std::span<const Value> items(Value value) const { return lists[nodes[value].number]; }
  /// What a Dictionary has under a text, the last of equals; none: nullptr.
  const Value* find(Value dictionary, std::string_view key) const;

private:
  friend class PickleReader;
  struct Node {
    std::uint64_t number = 0;  ///< bits of it, place in the file, or list
    std::uint32_t length = 0;
    Kind kind = Kind::None;
  };
  std::string_view file;
  std::vector<Node> nodes;
  std::vector<std::vector<Value>> lists;
  Value top = 0;
  std::size_t end = 0;
};

/// What a reader makes of a name: it is refused; it is noted, and so are its calls; its calls without arguments are dictionaries.
enum class PickleName : std::uint8_t { Refused, Noted, Dictionary };
using PickleNames = std::function<PickleName(std::string_view module, std::string_view name)>;

/// The first pickle of a file, which must outlive its values. Memory is taken for what the file holds, never for what it
/// announces: at most some 100 bytes for each of its bytes. Without `names` all names are refused, and what lies beside the
/// pickle.
tl::expected<PickleValues, PickleFault> readPickle(std::string_view file, const PickleNames& names = {});

}  // namespace tbem::data
