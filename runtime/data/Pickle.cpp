#include "runtime/data/Pickle.h"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tbem::data {

namespace {

constexpr std::uint64_t kLargest = std::uint64_t{1} << 31U;            // bytes of a text
constexpr std::uint64_t kLargestFile = (std::uint64_t{1} << 32U) - 1;  // values are counted in 32 bits

/// Opcodes that name code, and what they do with it.
std::string_view refusalOf(unsigned char opcode) {
  const auto isOf = [&](std::string_view opcodes) { return opcodes.find(static_cast<char>(opcode)) != std::string_view::npos; };
  if (isOf("c\x93")) return "names a function or class";
  if (isOf("Roi\x81\x92")) return "calls a function or class";
  if (opcode == 'b') return "sets the state of an object";
  if (isOf("PQ")) return "asks the program for an object (persistent id)";
  if (isOf("\x82\x83\x84")) return "names a registered extension";
  return isOf("\x97\x98") ? "asks the program for a buffer" : "";
}

}  // namespace

/// The machine that a pickle is a program of: a stack of values, marks in it, and a memory of values to be used again. One class:
/// an opcode is a few lines over these three.
class PickleReader {
public:
  PickleReader(std::string_view file, const PickleNames& names) : names(names) { made.file = file; }

  tl::expected<PickleValues, PickleFault> run() {
    if (made.file.size() > kLargestFile) fail("it has more than 4 GiB", "record fewer events: max_entries");
    for (bool on = true; on && !fault;) {
      start = at;
      const unsigned char opcode = byte();
      if (fault) break;
      if (names && code(opcode)) continue;
      if (const std::string_view refusal = refusalOf(opcode); !refusal.empty()) {
        fail(fmt::format("opcode 0x{:02x} {}: data is read, code is never run", opcode, refusal),
             names ? "save `model.state_dict()`: dictionaries, lists, numbers, texts and tensors alone"
                   : "write dictionaries, lists, numbers and texts alone, as torch.cuda.memory._dump_snapshot does");
      } else if (opcode == '.') {
        made.top = pop();
        made.end = at;
        on = false;
      } else if (!number(opcode) && !words(opcode) && !container(opcode) && !memory(opcode)) {
        fail(fmt::format("0x{:02x} is no opcode of pickle's protocols 2 to 5", opcode), "is this a pickle? it may be damaged");
      }
    }
    if (fault) return tl::unexpected(*std::move(fault));
    return std::move(made);
  }

private:
  using Value = PickleValues::Value;
  using Kind = PickleValues::Kind;

  const PickleNames& names;
  PickleValues made;
  std::size_t at = 0, start = 0;  ///< start: of the opcode in hand
  std::vector<Value> stack;
  std::vector<std::size_t> marks;  ///< sizes of the stack
  std::vector<Value> memo;         ///< the entries 0, 1, ..
  std::unordered_map<std::uint64_t, Value> far;
  std::optional<PickleFault> fault;

  void fail(std::string cause, std::string wayOut) {
    if (!fault) fault = PickleFault{start, std::move(cause), std::move(wayOut)};
  }
  void damaged(std::string cause) { fail(std::move(cause), "it is damaged: write it anew"); }
  void cutOff() { fail("the file ends within this opcode", "it is cut off: write it anew"); }

  unsigned char byte() {
    if (at >= made.file.size()) {
      cutOff();
      return 0;
    }
    return static_cast<unsigned char>(made.file[at++]);
  }
  /// A little-endian number of so many bytes.
  std::uint64_t bytes(std::size_t count) {
    if (made.file.size() - at < count) {
      cutOff();
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  void push(Value value) { stack.push_back(value); }
  void push(Kind kind, std::uint64_t number, std::uint32_t length = 0) {
    made.nodes.push_back({number, length, kind});
    push(static_cast<Value>(made.nodes.size() - 1));
  }
  void pushList(Kind kind, std::vector<Value> items) {
    made.lists.push_back(std::move(items));
    push(kind, made.lists.size() - 1);
  }
  void pushText(Kind kind, std::uint64_t length) {
    if (fault) return;
    if (length > made.file.size() - at || length > kLargest) {
      fail(fmt::format("a text of {} bytes where {} are left", length, made.file.size() - at),
           "it is damaged or cut off: write it anew");
      return;
    }
    push(kind, at, static_cast<std::uint32_t>(length));
    at += length;
  }
  Value pop() {
    if (stack.size() <= (marks.empty() ? 0 : marks.back())) {
      damaged("nothing is left to work on");
      return 0;
    }
    const Value value = stack.back();
    stack.pop_back();
    return value;
  }
  /// Everything above the last mark.
  std::vector<Value> popMarked() {
    if (marks.empty()) {
      damaged("a mark is missing");
      return {};
    }
    std::vector<Value> items(stack.begin() + static_cast<std::ptrdiff_t>(marks.back()), stack.end());
    stack.resize(marks.back());
    marks.pop_back();
    return items;
  }

  bool number(unsigned char opcode) {
    switch (opcode) {
      case 'N':
        push(Kind::None, 0);
        return true;
      case 0x88:
      case 0x89:
        push(Kind::Bool, opcode == 0x88 ? 1 : 0);
        return true;
      case 'J':
        push(Kind::Integer, static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(bytes(4)))));
        return true;
      case 'K':
        push(Kind::Integer, bytes(1));
        return true;
      case 'M':
        push(Kind::Integer, bytes(2));
        return true;
      case 0x8a:
      case 0x8b:
        longNumber(bytes(opcode == 0x8a ? 1 : 4));
        return true;
      case 'G': {
        const std::uint64_t turned = bytes(8);
        std::uint64_t value = 0;
        for (unsigned i = 0; i < 8; ++i) value |= (turned >> (8 * i) & 0xffU) << (56 - 8 * i);
        push(Kind::Real, value);
        return true;
      }
      default:
        return false;
    }
  }

  /// Two's complement, little-endian.
  void longNumber(std::uint64_t count) {
    if (fault) return;
    if (count > made.file.size() - at) return cutOff();
    const std::string_view digits = made.file.substr(at, count);
    at += count;
    if (count > 8) return push(Kind::Real, std::bit_cast<std::uint64_t>(realOf(digits)));
    std::uint64_t value = !digits.empty() && (static_cast<unsigned char>(digits.back()) & 0x80U) != 0 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      value &= ~(std::uint64_t{0xff} << (8 * i));
      value |= std::uint64_t{static_cast<unsigned char>(digits[i])} << (8 * i);
    }
    push(Kind::Integer, value);
  }
  static double realOf(std::string_view digits) {
    double value = (static_cast<unsigned char>(digits.back()) & 0x80U) != 0 ? -1 : 0;
    for (std::size_t i = digits.size(); i-- > 0;) value = value * 256 + static_cast<unsigned char>(digits[i]);
    return value;
  }

  bool words(unsigned char opcode) {
    switch (opcode) {
      case 0x80: {
        const std::uint64_t protocol = bytes(1);
        if (protocol < 2 || protocol > 5) fail(fmt::format("protocol {}", protocol), "protocols 2 to 5 are read");
        return true;
      }
      case 0x95:  // a frame: how many bytes can be read ahead
        if (const std::uint64_t length = bytes(8); !fault && length > made.file.size() - at)
          fail(fmt::format("a frame of {} bytes where {} are left", length, made.file.size() - at),
               "it is damaged or cut off: write it anew");
        return true;
      case 0x8c:
      case 'X':
      case 0x8d:
        pushText(Kind::Text, bytes(opcode == 0x8c ? 1 : opcode == 'X' ? 4 : 8));
        return true;
      case 'U':
      case 'C':
      case 'T':
      case 'B':
        pushText(Kind::Bytes, bytes(opcode == 'U' || opcode == 'C' ? 1 : 4));
        return true;
      case 0x8e:
      case 0x96:
        pushText(Kind::Bytes, bytes(8));
        return true;
      default:
        return false;
    }
  }

  bool container(unsigned char opcode) {
    switch (opcode) {
      case '(':
        marks.push_back(stack.size());
        return true;
      case ']':
      case ')':
      case 0x8f:
        pushList(Kind::List, {});
        return true;
      case '}':
        pushList(Kind::Dictionary, {});
        return true;
      case 'l':
      case 't':
      case 0x91:
        pushList(Kind::List, popMarked());
        return true;
      case 'd':
        pushPairs(popMarked());
        return true;
      case 0x85:
      case 0x86:
      case 0x87: {
        std::vector<Value> items(opcode - 0x84U);
        for (std::size_t i = items.size(); i-- > 0;) items[i] = pop();
        pushList(Kind::List, std::move(items));
        return true;
      }
      case 'a': {
        const Value item = pop();
        add(Kind::List, {item});
        return true;
      }
      case 'e':
      case 0x90:
        add(Kind::List, popMarked());
        return true;
      case 's': {
        const Value item = pop(), key = pop();
        add(Kind::Dictionary, {key, item});
        return true;
      }
      case 'u':
        add(Kind::Dictionary, popMarked());
        return true;
      case '0':
        if (!marks.empty() && marks.back() == stack.size())
          marks.pop_back();
        else
          pop();
        return true;
      case '1':
        popMarked();
        return true;
      case '2':
        if (const Value value = pop(); !fault) {
          push(value);
          push(value);
        }
        return true;
      default:
        return false;
    }
  }

  void pushPairs(std::vector<Value> items) {
    if (items.size() % 2 != 0) damaged("a key without a value");
    pushList(Kind::Dictionary, std::move(items));
  }

  /// To the container on top of the stack.
  void add(Kind kind, const std::vector<Value>& items) {
    const Value target = pop();
    if (fault) return;
    const PickleValues::Node& node = made.nodes[target];
    if (node.kind != kind) return damaged("elements for what is no container of such");
    if (kind == Kind::Dictionary && items.size() % 2 != 0) return damaged("a key without a value");
    std::vector<Value>& list = made.lists[node.number];
    list.insert(list.end(), items.begin(), items.end());
    push(target);
  }

  /// Names that are known, and what is done with them.
  bool code(unsigned char opcode) {
    if (opcode == 'c') {
      pushLine();
      pushLine();
    }
    if (opcode == 'c' || opcode == 0x93) {
      const Value name = pop(), module = pop();
      if (!fault) pushName(module, name);
    } else if (opcode == 'R') {
      const Value arguments = pop(), callee = pop();
      if (!fault) pushCall(callee, arguments);
    } else if (opcode == 'Q') {
      const Value key = pop();
      pushList(Kind::External, {key});
    } else if (opcode == 'b') {
      if (const Value attributes = pop(), target = pop(); !fault) {
        // An OrderedDict's own attributes, such as the versions of modules that a state dict keeps.
        if (made.kind(attributes) != Kind::Dictionary || made.kind(target) != Kind::Dictionary) return false;
        push(target);
      }
    } else {
      return false;
    }
    return true;
  }
  void pushLine() {
    const std::size_t end = made.file.find('\n', at);
    if (fault || end == std::string_view::npos) return cutOff();
    pushText(Kind::Text, end - at);
    ++at;
  }
  void pushName(Value module, Value name) {
    if (made.kind(module) != Kind::Text || made.kind(name) != Kind::Text) return damaged("a name is no text");
    if (names(made.text(module), made.text(name)) == PickleName::Refused)
      return fail(fmt::format("`{}.{}` is a function or class that is not known here: data is read, code is never run",
                              made.text(module), made.text(name)),
                  "write dictionaries of tensors alone: torch.save(model.state_dict(), \"weights.pth\")");
    pushList(Kind::Name, {module, name});
  }
  void pushCall(Value callee, Value arguments) {
    if (made.kind(callee) != Kind::Name || made.kind(arguments) != Kind::List) return damaged("a call of what is no name");
    const std::span<const Value> words = made.items(callee);
    if (names(made.text(words[0]), made.text(words[1])) != PickleName::Dictionary)
      return pushList(Kind::Call, {callee, arguments});
    if (!made.items(arguments).empty())
      return fail("a dictionary is made from a list, as Python 2 did", "load and save it in a PyTorch of Python 3");
    pushList(Kind::Dictionary, {});
  }

  bool memory(unsigned char opcode) {
    switch (opcode) {
      case 0x94:
        put(memo.size());
        return true;
      case 'q':
        put(bytes(1));
        return true;
      case 'r':
        put(bytes(4));
        return true;
      case 'h':
        get(bytes(1));
        return true;
      case 'j':
        get(bytes(4));
        return true;
      default:
        return false;
    }
  }

  void put(std::uint64_t index) {
    const Value value = pop();
    if (fault) return;
    push(value);
    if (index < memo.size())
      memo[index] = value;
    else if (index == memo.size())
      memo.push_back(value);
    else
      far[index] = value;
  }
  void get(std::uint64_t index) {
    if (fault) return;
    if (index < memo.size()) return push(memo[index]);
    const auto found = far.find(index);
    if (found == far.end()) return damaged(fmt::format("memory place {} holds nothing", index));
    push(found->second);
  }
};

tl::expected<PickleValues, PickleFault> readPickle(std::string_view file, const PickleNames& names) {
  return PickleReader(file, names).run();
}

}  // namespace tbem::data
