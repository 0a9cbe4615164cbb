#include "runtime/core/ExecutableFile.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>
#include <vector>

namespace tbem::runtime {
namespace {

constexpr std::string_view kFormat = "tbem-executable-3\n";
constexpr std::size_t kSumDigits = 32;

std::string sumOf(std::string_view body) {
  const XXH128_hash_t hash = XXH3_128bits(body.data(), body.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

class Writer {
public:
  std::string bytes;

  template <class... Fields>
  void operator()(const Fields&... fields) {
    (write(fields), ...);
  }
  /// As many numbers as `count` says, of an array that has room for more.
  template <class T>
  void some(const T* values, std::int32_t count) {
    for (std::int32_t i = 0; i < count; ++i) write(values[i]);
  }
  template <class T>
  void within(const T& value, std::int64_t, std::int64_t) {
    write(value);
  }

private:
  void number(std::uint64_t value) {
    for (; value >= 128; value >>= 7U) bytes.push_back(static_cast<char>(value | 128U));
    bytes.push_back(static_cast<char>(value));
  }
  template <class T>
  void write(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      number(value.size());
      bytes += value;
    } else if constexpr (std::is_floating_point_v<T>) {
      const auto bits = std::bit_cast<std::uint64_t>(value);
      for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(bits >> (8 * i)));
    } else if constexpr (std::is_enum_v<T> || std::is_unsigned_v<T>) {
      number(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_signed_v<T>) {
      const auto wide = static_cast<std::int64_t>(value);
      number((static_cast<std::uint64_t>(wide) << 1U) ^ static_cast<std::uint64_t>(wide >> 63));
    } else {
      fieldsOf(*this, value);
    }
  }
  template <class T>
  void write(const std::vector<T>& list) {
    number(list.size());
    for (const T& value : list) write(value);
  }
};

/// Reads what Writer wrote. After the first fault nothing more is taken, and all that is read is empty.
class Reader {
public:
  explicit Reader(std::string_view body) : left(body), size(body.size()) {}

  std::string fault;
  /// Where it stands: behind the last number or text that was taken.
  std::size_t at() const { return size - left.size(); }
  std::size_t faultAt() const { return stopped; }
  bool ended() const { return left.empty(); }
  void fail(std::string what) {
    if (!fault.empty()) return;
    fault = std::move(what);
    stopped = at();
    left = {};
  }

  template <class... Fields>
  void operator()(Fields&... fields) {
    (read(fields), ...);
  }
  template <class T>
  void some(T* values, std::int32_t count) {
    for (std::int32_t i = 0; i < count; ++i) read(values[i]);
  }
  template <class T>
  void within(T& value, std::int64_t least, std::int64_t most) {
    read(value);
    const auto number = static_cast<std::int64_t>(value);
    if (number >= least && number <= most) return;
    value = T{};
    fail(fmt::format("{}, expected a number from {} to {}", number, least, most));
  }

private:
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !left.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left.front());
      left.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127U) << shift;
      if (byte < 128) return value;
    }
    fail("no number ends, expected one of at most ten bytes");
    return 0;
  }
  /// The length of a list or a text, whose elements take a byte or more each.
  std::size_t length() {
    const std::uint64_t count = number();
    if (count <= left.size()) return count;
    fail(fmt::format("a length of {}, expected at most the {} bytes that are left", count, left.size()));
    return 0;
  }
  template <class T>
  void read(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      const std::size_t count = length();
      value = left.substr(0, count);
      left.remove_prefix(count);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (left.size() < 8) return fail("the end, expected a number of eight bytes");
      std::uint64_t bits = 0;
      for (unsigned i = 0; i < 8; ++i) bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(left[i])) << (8 * i);
      left.remove_prefix(8);
      value = std::bit_cast<double>(bits);
    } else if constexpr (std::is_same_v<T, bool>) {
      within01(value);
    } else if constexpr (std::is_enum_v<T> || std::is_unsigned_v<T>) {
      take(value, number());
    } else if constexpr (std::is_signed_v<T>) {
      const std::uint64_t bits = number();
      take(value, static_cast<std::int64_t>((bits >> 1U) ^ (~(bits & 1U) + 1)));
    } else {
      fieldsOf(*this, value);
    }
  }
  template <class T>
  void read(std::vector<T>& list) {
    // It grows by what is there: an element takes more memory than it has bytes here.
    for (std::size_t i = length(); i > 0 && fault.empty(); --i) {
      T value{};
      read(value);
      list.push_back(std::move(value));
    }
  }
  void within01(bool& value) {
    const std::uint64_t bit = number();
    if (bit > 1) fail(fmt::format("{}, expected 0 or 1", bit));
    value = bit == 1;
  }
  template <class T, class Wide>
  void take(T& value, Wide wide) {
    value = static_cast<T>(wide);
    if (static_cast<Wide>(value) != wide) fail(fmt::format("{}, expected a number of {} bits", wide, 8 * sizeof(T)));
  }

  std::string_view left;
  std::size_t size, stopped = 0;
};

/// The fields of each part, in the order of the file: one list for both ways. `Part` is const where it is written.
template <class T, class Of>
concept Is = std::is_same_v<std::remove_const_t<T>, Of>;

template <class Visit, Is<tbem_operand> Part>
void fieldsOf(Visit& visit, Part& o) {
  visit.within(o.present, 0, 1);
  visit.within(o.dtype, TBEM_F64, TBEM_BOOL);
  visit.within(o.rank, 0, TBEM_MAX_RANK);
  visit.some(o.dims, o.rank);
  visit.some(o.layout.strides, o.rank);
  visit.some(o.layout.padded, o.rank);
  visit.within(o.layout.blocks, 0, std::ssize(o.layout.block_dim));
  for (std::int32_t i = 0; i < o.layout.blocks; ++i) {
    visit.within(o.layout.block_dim[i], 0, TBEM_MAX_RANK - 1);
    visit(o.layout.block_size[i]);
  }
  visit(o.layout.any, o.layout.bytes);
}
template <class Visit, Is<ProtocolSettings> Part>
void fieldsOf(Visit& visit, Part& p) {
  visit(p.warmup, p.steps, p.minSeconds, p.maxSteps);
}
template <class Visit, Is<AllocationDesc> Part>
void fieldsOf(Visit& visit, Part& a) {
  visit(a.offset, a.bytes, a.persistent);
}
template <class Visit, Is<BufferDesc> Part>
void fieldsOf(Visit& visit, Part& b) {
  visit(b.name, b.operand, b.offset, b.allocation);
}
template <class Visit, Is<StorageDesc> Part>
void fieldsOf(Visit& visit, Part& s) {
  visit(s.path);
  visit.within(s.kind, 0, static_cast<std::int64_t>(BufferClass::Constant));
  visit(s.buffer, s.init.kind, s.init.a, s.init.b, s.bound);
}
template <class Visit, Is<CallDesc> Part>
void fieldsOf(Visit& visit, Part& c) {
  visit.within(c.primitive, 0, TBEM_PRIMITIVE_COUNT);  // that one of own code
  visit(c.library, c.symbol, c.name);
  visit.within(c.inputs, 0, std::int64_t{1} << 30);
  visit.within(c.outputs, 0, std::int64_t{1} << 30);
  visit(c.operands, c.offsets, c.attributes, c.scalars, c.workspace, c.workspaceBytes, c.implementation, c.perSample, c.sizes,
        c.samples);
  visit.within(c.algorithm, 0, TBEM_MAX_ALGORITHMS - 1);
  visit(c.moves, c.parts, c.workspacePart, c.partSizes, c.room);
}
template <class Visit, Is<BranchDesc> Part>
void fieldsOf(Visit& visit, Part& b) {
  visit(b.parent, b.gate, b.exits, b.condition, b.samples, b.ofEachSample, b.rows, b.origin);
}
template <class Visit, Is<Executable> Part>
void fieldsOf(Visit& visit, Part& e) {
  visit(e.arena, e.allocations, e.buffers, e.storages, e.calls, e.branches, e.samples, e.microBatches, e.microBatchAt, e.scalars,
        e.scalarNames, e.loss, e.outputs);
  visit.within(e.threads, 1, std::int64_t{1} << 20);
  visit.within(e.tf32, 0, 1);
}
template <class Visit, Is<LibraryDesc> Part>
void fieldsOf(Visit& visit, Part& l) {
  visit(l.path, l.hash);
}
template <class Visit, Is<ExecutableFile> Part>
void fieldsOf(Visit& visit, Part& f) {
  visit(f.identity, f.backend, f.device, f.object, f.libraries, f.seed, f.protocol, f.executable);
}

/// A number that names nothing in the executable: which, and how many there are of what it names; "" where there is none.
std::string danglingOf(const Executable& e) {
  const auto missing = [](std::string_view who, std::uint64_t number, std::size_t count, std::string_view what) {
    return fmt::format("{} names {} {}, expected one of {}", who, what, number, count);
  };
  for (const BufferDesc& buffer : e.buffers) {
    if (buffer.allocation >= e.allocations.size()) {
      return missing("buffer " + buffer.name, buffer.allocation, e.allocations.size(), "allocation");
    }
  }
  for (const StorageDesc& storage : e.storages) {
    if (storage.buffer >= e.buffers.size()) return missing("storage " + storage.path, storage.buffer, e.buffers.size(), "buffer");
  }
  for (const CallDesc& call : e.calls) {
    if (call.symbol.empty() && call.primitive == TBEM_PRIMITIVE_COUNT)
      return missing("call " + call.name, TBEM_PRIMITIVE_COUNT, TBEM_PRIMITIVE_COUNT, "primitive");
  }
  for (std::size_t i = 0; i < e.branches.size(); ++i) {
    if (i > 0 && e.branches[i].parent >= i) return missing("branch " + e.branches[i].gate, e.branches[i].parent, i, "parent");
  }
  for (const std::uint32_t output : e.outputs) {
    if (output >= e.buffers.size()) return missing("an output", output, e.buffers.size(), "buffer");
  }
  if (e.loss != kNone && e.loss >= e.buffers.size()) return missing("the loss", e.loss, e.buffers.size(), "buffer");
  return {};
}

}  // namespace

std::string sealExecutable(std::string_view body) { return std::string(kFormat) + sumOf(body) + std::string(body); }

std::string executableText(const ExecutableFile& file) {
  Writer writer;
  writer(file);
  return sealExecutable(writer.bytes);
}

tl::expected<ExecutableFile, std::string> readExecutable(std::string_view text, std::string_view name) {
  const auto wrong = [&](std::size_t at, std::string_view what) {
    return tl::unexpected(fmt::format("{} at byte {}: {}; remove it and measure again", name, at, what));
  };
  if (!text.starts_with(kFormat)) {
    return wrong(0, fmt::format("this is no executable of this version, expected `{}`", kFormat.substr(0, kFormat.size() - 1)));
  }
  const std::size_t begin = kFormat.size() + kSumDigits;
  if (text.size() < begin) return wrong(text.size(), fmt::format("it ends, expected a checksum of {} digits", kSumDigits));
  const std::string_view body = text.substr(begin);
  if (const std::string sum = sumOf(body); text.substr(kFormat.size(), kSumDigits) != sum)
    return wrong(kFormat.size(), fmt::format("another checksum than that of what follows, expected {}", sum));
  ExecutableFile file;
  Reader reader(body);
  reader(file);
  if (reader.fault.empty() && !reader.ended()) {
    return wrong(begin + reader.at(), fmt::format("{} bytes more, expected the end", body.size() - reader.at()));
  }
  if (reader.fault.empty()) reader.fail(danglingOf(file.executable));
  if (!reader.fault.empty()) return wrong(begin + reader.faultAt(), reader.fault);
  return file;
}

}  // namespace tbem::runtime
