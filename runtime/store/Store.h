// The store of finished rows, and of the points that searches found: one SQLite file `NAME.tbemdb`.
//
// A measurement is in the store when `commit` has returned, points when `commitPoints` has: they then survive a kill of the
// process and a loss of power (synchronous = FULL). Several processes may read and write one file. On a local disk the journal is
// a write-ahead log; on a network file system, where that is not safe (sqlite.org/wal.html), it is a rollback journal.
#pragma once

#include "runtime/core/Measurement.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct sqlite3;

namespace tbem::store {

/// Version of the tables that this code writes. Older files are brought up to it when opened for writing, and read as they are
/// otherwise: what they do not have is absent.
constexpr int kSchemaVersion = 12;

/// What went wrong with the file. `message` is complete: the path, what happened, SQLite's number, the way out.
struct Error {
  enum class Kind : std::uint8_t { CannotOpen, Locked, DiskFull, ReadOnly, NotOurs, NewerSchema, Empty, Corrupt, Other };
  Kind kind = Kind::Other;
  std::string path;
  int code = 0;  ///< SQLite's extended result code, 0 where SQLite was not asked
  std::string message;
};
template <class T>
using Result = tl::expected<T, Error>;

struct Finished {
  std::uint32_t repeat = 0;
  runtime::Status status{};
  double timeLimit = 0;
};

struct Stored {
  runtime::Case key;  ///< `cost` is not stored
  runtime::Measurement value;
};

/// What a search made of one example of a dataset.
struct StoredPoint {
  std::int64_t example = 0;
  std::string text;              ///< what is known of it, in the words of whoever put it there
  std::vector<std::byte> input;  ///< f32, little-endian, row-major
};

enum class Mode : std::uint8_t { ReadWrite, ReadOnly };

/// Whether points are read with their inputs, which are most of what they take.
enum class Inputs : std::uint8_t { Leave, Read };

/// What becomes of a measurement whose (identity, repeat) is there already.
enum class Existing : std::uint8_t {
  Keep,    ///< an ok or oom row stays as it is; failed, timed out and skipped ones are replaced
  Replace  ///< the new one takes its place (`--fresh`)
};

/// One connection. Not copyable; one thread at a time.
class Store {
public:
  /// Opens `path`; ReadWrite makes the file where there is none (its folder must exist). Waits up to `busySeconds` for other
  /// writers. A file that is no store, of a newer version or damaged is refused and left untouched.
  static Result<Store> open(const std::string& path, Mode mode = Mode::ReadWrite, double busySeconds = 30);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  const std::string& path() const;

  /// The repeats of one identity that are there, by repeat.
  Result<std::vector<Finished>> finished(const std::string& identity);
  /// The one (identity, repeat), if it is there.
  Result<std::optional<Finished>> finished(const std::string& identity, std::uint32_t repeat);

  /// Writes a measurement and the case it belongs to in one transaction. False: kept what was there.
  Result<bool> commit(const runtime::Case& key, const runtime::Measurement& value, Existing existing = Existing::Keep);
  /// Says that a design's row is the experiment `key.identity` (which may have been measured under another name or number).
  Result<void> registerCase(const runtime::Case& key);

  /// All that was ever measured under a design's name, by row, backend, repeat; "" for `backend`: all. Rows of former
  /// versions of the program are among them: tell them apart by identity.
  Result<std::vector<Stored>> results(const std::string& design, const std::string& backend = "");
  /// The measurements of one identity, by repeat, under the first name it was registered with.
  Result<std::vector<Stored>> results(std::span<const std::string> identities);
  /// The names of the designs in the file, sorted.
  Result<std::vector<std::string>> designs();

  /// Writes points in one transaction. One that is there, of this identity and example, is replaced.
  Result<void> commitPoints(const std::string& identity, std::span<const StoredPoint> points);
  /// All points of one identity, by example.
  Result<std::vector<StoredPoint>> points(const std::string& identity, Inputs inputs = Inputs::Leave);

private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

}  // namespace tbem::store
