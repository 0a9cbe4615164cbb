#include "compiler/syntax/tree/Pack.h"

#include "compiler/support/Bug.h"
#include "compiler/syntax/tree/PackFields.h"

#include <concepts>
#include <type_traits>
#include <unordered_map>

namespace tbem::syntax {

namespace {

/// fields(node as its own kind), and of declarations what all of them have.
template <class A, class T>
void allFields(A& a, T& node) {
  if constexpr (std::derived_from<T, ast::Decl>) declFields(a, node);
  fields(a, node);
}

class Writer {
public:
  explicit Writer(const Source& source) : base(source.base) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  std::string out;

private:
  /// Seven bits a byte, low ones first.
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>(value | 0x80U));
    out.push_back(static_cast<char>(value));
  }
  void one(std::string& text) {
    number(text.size());
    out += text;
  }
  void one(SrcRange& range) {
    number(range.valid() ? range.begin - base + 1 : 0);
    if (range.valid()) number(range.end - range.begin);
  }
  void one(std::optional<std::uint32_t>& value) { number(value ? std::uint64_t{*value} + 1 : 0); }
  template <class T>
  void one(std::vector<T>& list) {
    number(list.size());
    for (T& item : list) one(item);
  }
  /// A node is written where it is met first; behind that it is its number. 0: null, 1: here it comes.
  template <std::derived_from<ast::Node> T>
  void one(const T*& node) {
    if (node == nullptr) return number(0);
    const auto [known, fresh] = numbers.emplace(node, numbers.size() + 2);
    if (!fresh) return number(known->second);
    number(1);
    number(static_cast<std::uint64_t>(node->kind));
    switch (node->kind) {
#define NODE(name)          \
  case ast::NodeKind::name: \
    return this->node(const_cast<ast::name&>(ast::cast<ast::name>(*node)));  // read only, but `fields` serves both ways
      TBEM_AST_NODES(NODE)
#undef NODE
    }
  }
  template <class T>
  void node(T& node) {
    one(node.range);
    allFields(*this, node);
  }
  template <class T>
  void one(T& value) {
    if constexpr (std::is_enum_v<T>) {
      number(static_cast<std::uint64_t>(value));
    } else if constexpr (std::integral<T>) {
      number(value);
    } else {
      fields(*this, value);
    }
  }

  Loc base;
  std::unordered_map<const ast::Node*, std::uint64_t> numbers;
};

class Reader {
public:
  Reader(ast::File& file, std::string_view bytes) : file(file), base(file.source->base), bytes(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  bool atEnd() const { return bytes.empty(); }

private:
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      TBEM_CHECK(!bytes.empty() && shift < 64);
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  }
  void one(std::string& text) {
    const std::uint64_t size = number();
    TBEM_CHECK(size <= bytes.size());
    text.assign(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  void one(SrcRange& range) {
    const std::uint64_t begin = number();
    if (begin == 0) return;
    range.begin = static_cast<Loc>(base + begin - 1);
    range.end = static_cast<Loc>(range.begin + number());
  }
  void one(std::optional<std::uint32_t>& value) {
    const std::uint64_t stored = number();
    if (stored != 0) value = static_cast<std::uint32_t>(stored - 1);
  }
  template <class T>
  void one(std::vector<T>& list) {
    const std::uint64_t size = number();
    TBEM_CHECK(size <= bytes.size());  // an item takes a byte or more
    list.resize(size);
    for (T& item : list) one(item);
  }
  template <std::derived_from<ast::Node> T>
  void one(const T*& node) {
    const std::uint64_t which = number();
    if (which == 0) return;
    if (which > 1) {
      TBEM_CHECK(which - 2 < nodes.size());
      node = static_cast<const T*>(nodes[which - 2]);
      return;
    }
    const std::size_t place = nodes.size();
    nodes.push_back(nullptr);  // numbered as it was met: before what it holds
    node = static_cast<const T*>(made(static_cast<ast::NodeKind>(number()), place));
  }
  const ast::Node* made(ast::NodeKind kind, std::size_t place) {
    switch (kind) {
#define NODE(name)          \
  case ast::NodeKind::name: \
    return fill(*file.make<ast::name>({}), place);
      TBEM_AST_NODES(NODE)
#undef NODE
    }
    TBEM_BUG("a packed tree has a node of kind {}", static_cast<int>(kind));
  }
  template <class T>
  const ast::Node* fill(T& node, std::size_t place) {
    nodes[place] = &node;
    one(node.range);
    allFields(*this, node);
    return &node;
  }
  template <class T>
  void one(T& value) {
    if constexpr (std::is_enum_v<T> || std::integral<T>) {
      value = static_cast<T>(number());
    } else {
      fields(*this, value);
    }
  }

  ast::File& file;
  Loc base;
  std::string_view bytes;
  std::vector<const ast::Node*> nodes;  ///< by number - 2
};

}  // namespace

std::string pack(const ast::File& file) {
  Writer writer(*file.source);
  fields(writer, const_cast<ast::File&>(file));  // read only, but `fields` serves both ways
  return std::move(writer.out);
}

std::unique_ptr<ast::File> unpack(const Source& source, std::string_view packed) {
  auto file = std::make_unique<ast::File>();
  file->source = &source;
  Reader reader(*file, packed);
  fields(reader, *file);
  TBEM_CHECK(reader.atEnd());
  return file;
}

}  // namespace tbem::syntax
