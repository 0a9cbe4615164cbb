#include "runtime/core/Segments.h"

#include <utility>

namespace tbem::runtime {

namespace {

constexpr std::size_t kFewPieces = 3;         ///< which take no longer to ask for than a replay
constexpr std::size_t kMostRecordings = 512;  ///< each takes memory of the device
constexpr std::size_t kMostWords = 1 << 20U;  ///< of the segments that are remembered: 8 MiB

}  // namespace

void Segments::begin(std::vector<std::uint64_t> from) {
  kept = std::move(from);
  given = kept.size();
  pieces = 0;
  keeps = true;
}

void Segments::end() {
  keeps = false;
  kept.clear();
}

bool Segments::takes(Kind kind, std::initializer_list<std::uint64_t> list, std::span<const std::uint64_t> more) {
  if (!keeps) return false;
  kept.push_back(static_cast<std::uint64_t>(kind));
  kept.push_back(list.size() + more.size());
  kept.insert(kept.end(), list.begin(), list.end());
  kept.insert(kept.end(), more.begin(), more.end());
  if (kind != Kind::MicroBatch) ++pieces;
  return true;
}

/// `statesAlone`: only what the host is to know, without work of the device.
tbem_status Segments::each(const Perform& perform, bool statesAlone) const {
  for (std::size_t at = given; at < kept.size();) {
    const auto kind = static_cast<Kind>(kept[at]);
    const std::size_t count = kept[at + 1];
    if (!statesAlone || kind == Kind::MicroBatch) {
      if (const tbem_status status = perform({kind, std::span(kept).subspan(at + 2, count)}); status != TBEM_OK) return status;
    }
    at += 2 + count;
  }
  return TBEM_OK;
}

tbem_status Segments::record(const Perform& perform, tbem_recording*& recording) {
  const tbem_status begun = device.record();
  if (begun == TBEM_UNSUPPORTED) {
    records = false;
    return each(perform, false);
  }
  if (begun != TBEM_OK) return begun;
  const tbem_status status = each(perform, false);
  const tbem_status ended = device.recorded(&recording);
  if (status != TBEM_OK || ended != TBEM_OK) {
    if (recording != nullptr) device.forget(recording);  // a part of the segment
    recording = nullptr;
    return status != TBEM_OK ? status : ended;
  }
  ++recordings;
  return device.replay(recording);
}

tbem_status Segments::flush(const Perform& perform) {
  if (!keeps) return TBEM_OK;
  keeps = false;  // what `perform` asks for is done at once
  tbem_status status = TBEM_OK;
  const auto known = segments.find(kept);
  if (!records || pieces <= kFewPieces) {
    status = each(perform, false);
  } else if (known == segments.end()) {
    status = each(perform, false);
    if (status == TBEM_OK && words + kept.size() <= kMostWords) {
      segments.emplace(kept, nullptr);
      words += kept.size();
    }
  } else if (known->second != nullptr) {
    status = each(perform, true);
    if (status == TBEM_OK) status = device.replay(known->second);
  } else {
    status = recordings < kMostRecordings ? record(perform, known->second) : each(perform, false);
  }
  kept.resize(given);
  pieces = 0;
  keeps = true;
  return status;
}

void Segments::forget() {
  for (const auto& [work, recording] : segments) {
    if (recording != nullptr) device.forget(recording);
  }
  segments.clear();
  words = recordings = 0;
}

}  // namespace tbem::runtime
