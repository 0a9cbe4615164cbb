#include "runtime/train/Snapshot.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::train {

using runtime::BufferClass;
using Failure = tl::unexpected<std::string>;

const Snapshot::Entry* Snapshot::find(BufferClass kind, std::string_view path) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& one) { return one.kind == kind && one.path == path; });
  return found == entries.end() ? nullptr : &*found;
}

tl::expected<Snapshot, std::string> take(const runtime::Instance& instance, bool states) {
  Snapshot snapshot;
  const auto& storages = instance.executable().storages;
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    const BufferClass kind = storages[s].kind;
    if (kind != BufferClass::Weight && kind != BufferClass::Buffer && !(states && kind == BufferClass::State)) continue;
    auto value = instance.readStorage(s);
    if (!value) return Failure(value.error().message);
    snapshot.entries.push_back({kind, storages[s].path, std::move(*value)});
  }
  return snapshot;
}

tl::expected<void, std::string> give(const Snapshot& snapshot, runtime::Instance& instance) {
  const bool states = std::any_of(snapshot.entries.begin(), snapshot.entries.end(),
                                  [](const Snapshot::Entry& one) { return one.kind == BufferClass::State; });
  const auto& storages = instance.executable().storages;
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    const BufferClass kind = storages[s].kind;
    if (kind != BufferClass::Weight && kind != BufferClass::Buffer && !(states && kind == BufferClass::State)) continue;
    const Snapshot::Entry* entry = snapshot.find(kind, storages[s].path);
    if (entry == nullptr) return Failure(fmt::format("there is no `{}`", storages[s].path));
    if (const auto done = instance.writeStorage(s, entry->value); !done) return Failure(done.error().message);
  }
  return {};
}

}  // namespace tbem::train
