#include "compiler/pytorch/allocator/SnapshotFile.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

namespace tbem::estimate {

namespace {

using Value = data::PickleValues::Value;
using Kind = data::PickleValues::Kind;

std::string_view kindName(Kind kind) {
  switch (kind) {
    case Kind::None:
      return "None";
    case Kind::Bool:
      return "a truth value";
    case Kind::Integer:
      return "a whole number";
    case Kind::Real:
      return "a real number";
    case Kind::Text:
      return "a text";
    case Kind::Bytes:
      return "bytes";
    case Kind::List:
      return "a list";
    case Kind::Dictionary:
      return "a dictionary";
    case Kind::Name:
    case Kind::Call:
    case Kind::External:
      return "code";
  }
  return {};
}

constexpr std::size_t kMostItems = 1024;  // of a dictionary: keys and values

class SnapshotReader {
public:
  SnapshotReader(data::PickleValues values, std::size_t size) : left(size) { made.values = std::move(values); }

  tl::expected<Snapshot, data::PickleFault> run() {
    const Value root = made.values.root();
    const Value* traces = want(root, "device_traces", Kind::List, "the snapshot");
    if (traces == nullptr) return tl::unexpected(*std::move(fault));
    std::size_t card = 0;
    for (const Value trace : made.values.items(*traces)) {
      if (!readCard(trace, card++)) return tl::unexpected(*std::move(fault));
    }
    if (made.cards.empty()) {
      fail("it has no history of any card",
           "begin with torch.cuda.memory._record_memory_history(max_entries=1_000_000), before anything is allocated");
      return tl::unexpected(*std::move(fault));
    }
    if (!readSegments(root)) return tl::unexpected(*std::move(fault));
    readSettings(root);
    return std::move(made);
  }

private:
  Snapshot made;
  std::size_t left;  ///< events and blocks that a file of this size can hold: parts of a pickle can be used again and again
  std::optional<data::PickleFault> fault;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> pools;
  std::map<std::size_t, std::size_t> indexOf;  ///< by card: its trace

  bool fail(std::string cause, std::string wayOut) {
    if (!fault) fault = data::PickleFault{0, std::move(cause), std::move(wayOut)};
    return false;
  }

  const Value* want(Value dictionary, std::string_view key, Kind kind, const std::string& of) {
    const data::PickleValues& values = made.values;
    if (values.kind(dictionary) != Kind::Dictionary) {
      fail(fmt::format("{} is {}, no dictionary", of, kindName(values.kind(dictionary))),
           "a snapshot is what torch.cuda.memory._dump_snapshot() writes");
      return nullptr;
    }
    if (values.items(dictionary).size() > kMostItems) {
      fail(fmt::format("{} is a dictionary of {} keys", of, values.items(dictionary).size() / 2),
           "a snapshot is what torch.cuda.memory._dump_snapshot() writes");
      return nullptr;
    }
    const Value* found = values.find(dictionary, key);
    if (found == nullptr) {
      fail(fmt::format("{} has no `{}`", of, key), "a snapshot is what torch.cuda.memory._dump_snapshot() writes");
      return nullptr;
    }
    if (values.kind(*found) != kind) {
      fail(fmt::format("`{}` of {} is {}, not {}", key, of, kindName(values.kind(*found)), kindName(kind)),
           "a snapshot is what torch.cuda.memory._dump_snapshot() writes");
      return nullptr;
    }
    return found;
  }

  /// An address or a size.
  std::optional<std::uint64_t> amount(Value dictionary, std::string_view key, const std::string& of) {
    const Value* found = want(dictionary, key, Kind::Integer, of);
    if (found == nullptr) return std::nullopt;
    const std::int64_t number = made.values.integer(*found);
    if (number >= 0 && static_cast<std::uint64_t>(number) < kAddressLimit) return static_cast<std::uint64_t>(number);
    fail(fmt::format("`{}` of {} is {}", key, of, number), "addresses and sizes are from 0 to 2^57");
    return std::nullopt;
  }

  std::uint32_t poolOf(Value dictionary, std::string_view key) {
    const Value* found = made.values.find(dictionary, key);
    if (found == nullptr || made.values.kind(*found) != Kind::List || made.values.items(*found).size() != 2) return 0;
    const auto items = made.values.items(*found);
    if (made.values.kind(items[0]) != Kind::Integer || made.values.kind(items[1]) != Kind::Integer) return 0;
    const std::pair<std::int64_t, std::int64_t> id(made.values.integer(items[0]), made.values.integer(items[1]));
    if (id == std::pair<std::int64_t, std::int64_t>(0, 0)) return 0;
    return pools.try_emplace(id, static_cast<std::uint32_t>(pools.size() + 1)).first->second;
  }

  std::uint64_t streamOf(Value dictionary) {
    const Value* found = made.values.find(dictionary, "stream");
    return found != nullptr && made.values.kind(*found) == Kind::Integer ? static_cast<std::uint64_t>(made.values.integer(*found))
                                                                         : 0;
  }

  bool readCard(Value list, std::size_t card) {
    const data::PickleValues& values = made.values;
    if (values.kind(list) != Kind::List)
      return fail(fmt::format("the history of card {} is {}, no list", card, kindName(values.kind(list))),
                  "a snapshot is what torch.cuda.memory._dump_snapshot() writes");
    if (values.items(list).empty()) return true;
    AllocatorTrace trace;
    trace.name = fmt::format("card {}", card);
    for (std::size_t i = 0; i < values.items(list).size(); ++i) {
      if (!readEntry(values.items(list)[i], i, trace)) return false;
    }
    indexOf[card] = made.cards.size();
    made.cards.push_back(std::move(trace));
    return true;
  }

  bool countOne() { return left-- > 0 || fail("it holds more events than it has bytes", "it is damaged: write it anew"); }

  bool readEntry(Value dictionary, std::size_t number, AllocatorTrace& trace) {
    if (!countOne()) return false;
    const std::string of = fmt::format("event {} of {}", number, trace.name);
    const Value* action = want(dictionary, "action", Kind::Text, of);
    if (action == nullptr) return false;
    const std::string_view name = made.values.text(*action);
    const auto kind = actionOf(name);
    if (!kind) {
      if (name != "snapshot" && name != "annotate") ++trace.unknown;
      return true;
    }
    AllocatorAction entry;
    entry.kind = *kind;
    const bool failed = *kind == AllocatorAction::Kind::OutOfMemory;
    // Until PyTorch 2.0 the free memory was called `addr` there too.
    const bool named = failed && made.values.find(dictionary, "device_free") != nullptr;
    const auto address = amount(dictionary, named ? "device_free" : "addr", of);
    const auto bytes = address ? amount(dictionary, "size", of) : std::nullopt;
    if (!bytes) return false;
    entry.address = *address;
    entry.bytes = *bytes;
    entry.stream = streamOf(dictionary);
    entry.pool = poolOf(dictionary, "pool_id");
    trace.entries.push_back(entry);
    trace.recordedAt.push_back(number);
    const Value* frames = made.values.find(dictionary, "frames");
    trace.frames.push_back(frames != nullptr ? *frames : dictionary);
    return true;
  }

  /// Blocks that are in use at the end.
  bool readSegments(Value root) {
    const data::PickleValues& values = made.values;
    const Value* segments = values.find(root, "segments");
    if (segments == nullptr || values.kind(*segments) != Kind::List) return true;
    std::size_t number = 0;
    for (const Value segment : values.items(*segments)) {
      if (!countOne()) return false;
      const std::string of = fmt::format("segment {}", number++);
      const Value* blocks = want(segment, "blocks", Kind::List, of);
      const auto address = blocks != nullptr ? amount(segment, "address", of) : std::nullopt;
      if (!address) return false;
      const Value* card = values.find(segment, "device");
      const auto index = indexOf.find(
          card != nullptr && values.kind(*card) == Kind::Integer ? static_cast<std::size_t>(values.integer(*card)) : 0);
      std::uint64_t at = *address;
      for (const Value block : values.items(*blocks)) {
        if (!countOne()) return false;
        const auto bytes = amount(block, "size", "a block of " + of);
        const Value* state = bytes ? want(block, "state", Kind::Text, "a block of " + of) : nullptr;
        if (state == nullptr) return false;
        const Value* requested = values.find(block, "requested_size");
        const bool told = requested != nullptr && values.kind(*requested) == Kind::Integer && values.integer(*requested) > 0 &&
                          static_cast<std::uint64_t>(values.integer(*requested)) <= *bytes;
        if (values.text(*state) == "active_allocated" && index != indexOf.end())
          made.cards[index->second].left.push_back({at, told ? static_cast<std::uint64_t>(values.integer(*requested)) : *bytes,
                                                    streamOf(segment), poolOf(segment, "segment_pool_id")});
        at += *bytes;
        if (at >= 2 * kAddressLimit) return fail(of + " is too large", "addresses and sizes are from 0 to 2^57");
      }
    }
    return true;
  }

  void readSettings(Value root) {
    const Value* settings = made.values.find(root, "allocator_settings");
    const Value* text = settings != nullptr ? made.values.find(*settings, "PYTORCH_CUDA_ALLOC_CONF") : nullptr;
    if (text == nullptr || made.values.kind(*text) != Kind::Text) return;
    for (AllocatorTrace& trace : made.cards) trace.settings = std::string(made.values.text(*text));
  }
};

}  // namespace

tl::expected<Snapshot, data::PickleFault> readSnapshot(std::string_view file) {
  auto values = data::readPickle(file);
  if (!values) return tl::unexpected(std::move(values.error()));
  return SnapshotReader(*std::move(values), file.size()).run();
}

std::string placeOf(const Snapshot& snapshot, const AllocatorTrace& trace, std::size_t entry) {
  const data::PickleValues& values = snapshot.values;
  if (entry >= trace.frames.size() || values.kind(trace.frames[entry]) != Kind::List) return {};
  for (const Value frame : values.items(trace.frames[entry])) {
    const Value* file = values.find(frame, "filename");
    const Value* line = values.find(frame, "line");
    const Value* name = values.find(frame, "name");
    if (file == nullptr || line == nullptr || name == nullptr || values.kind(*file) != Kind::Text ||
        values.kind(*name) != Kind::Text || values.kind(*line) != Kind::Integer)
      continue;
    const std::string_view path = values.text(*file);
    if (!path.ends_with(".py") || path.find("/torch/") != std::string_view::npos) continue;
    const std::size_t slash = path.rfind('/');
    return fmt::format("{}:{} {}", slash == std::string_view::npos ? path : path.substr(slash + 1), values.integer(*line),
                       values.text(*name));
  }
  return {};
}

}  // namespace tbem::estimate
