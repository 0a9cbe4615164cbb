// Work that a step with gates asks of a device between two moments at which the host waits for a count of samples. What follows
// depends on those counts, so a step as a whole is not recorded; but a segment that is the same as one before is.
#pragma once

#include "tbem/backend.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <vector>

namespace tbem::runtime {

class Segments {
public:
  enum class Kind : std::uint64_t { Launch, Call, Zero, Move, MicroBatch };
  /// One piece of work: whatever its kind takes, as words.
  struct Work {
    Kind kind{};
    std::span<const std::uint64_t> words;
  };
  using Perform = std::function<tbem_status(const Work&)>;

  /// `device` outlives this.
  explicit Segments(const tbem_device_table& device) : device(device) {}
  ~Segments() { forget(); }
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;

  /// From here to `end` work is kept until `flush`. `given`: what the work depends on beside what it says itself.
  void begin(std::vector<std::uint64_t> given);
  void end();
  /// Whether a piece of work was kept, to be done later; false: it is to be done now.
  bool takes(Kind kind, std::initializer_list<std::uint64_t> words, std::span<const std::uint64_t> more = {});
  /// Does what was kept, in its order. The first time by asking for each piece (libraries prepare themselves then), the second
  /// time recorded, and replayed from then on; few pieces, and those of devices that record nothing, always one by one. Where a
  /// piece fails the rest is not done.
  tbem_status flush(const Perform& perform);

  std::size_t recorded() const { return recordings; }  ///< segments of which there is a recording
  /// Recordings hold addresses and prepared operators: before these are gone.
  void forget();

private:
  tbem_status each(const Perform& perform, bool statesAlone) const;
  tbem_status record(const Perform& perform, tbem_recording*& recording);

  const tbem_device_table& device;
  std::vector<std::uint64_t> kept;  ///< what was given, then of each piece: kind, how many words, words
  std::size_t given = 0;            ///< words that were given
  std::size_t pieces = 0;           ///< of work that a device does
  bool keeps = false;
  bool records = true;                                             ///< the device can
  std::map<std::vector<std::uint64_t>, tbem_recording*> segments;  ///< that were met, by `kept`; null: not recorded yet
  std::size_t words = 0;                                           ///< of all these
  std::size_t recordings = 0;
};

}  // namespace tbem::runtime
