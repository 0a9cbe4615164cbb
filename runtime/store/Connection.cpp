#include "runtime/store/Connection.h"

#include "runtime/files/Read.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace tbem::store {
namespace {

std::string folderOf(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// File systems on which the shared memory of a write-ahead log is not shared between machines. Numbers from
/// linux/magic.h and statfs(2).
bool onNetworkDisk(const std::string& path) {
  struct statfs info {};
  if (statfs(folderOf(path).c_str(), &info) != 0) return true;
  switch (static_cast<std::uint32_t>(info.f_type)) {
    case 0x6969:      // NFS
    case 0x517B:      // SMB
    case 0xFF534D42:  // CIFS
    case 0xFE534D42:  // SMB2
    case 0x0BD00BD0:  // Lustre
    case 0x47504653:  // GPFS
    case 0x19830326:  // BeeGFS
    case 0x00C36400:  // Ceph
    case 0x5346414F:  // AFS
    case 0x6B414653:  // kAFS
    case 0x01021997:  // 9p
    case 0x65735546:  // FUSE: sshfs among them
      return true;
    default:
      return false;
  }
}

/// Refuses a file that cannot be a database before SQLite touches it. An empty file is an unwritten database.
Result<void> checkHeader(const std::string& path) {
  const auto opened = files::OpenFile::open(path);
  if (!opened) {
    const files::Failure& failure = opened.error();
    if (failure.code == ENOENT) return {};
    return tl::unexpected(errorOf(path, SQLITE_CANTOPEN, failure.code, failure.code != 0 ? "open" : failure.message));
  }
  char head[16];
  const ssize_t got = ::read(opened->descriptor(), head, sizeof head);
  const int reason = errno;
  if (got < 0) return tl::unexpected(errorOf(path, SQLITE_CANTOPEN, reason, "read"));
  if (got == 0 || (got == 16 && std::memcmp(head, "SQLite format 3", 16) == 0)) return {};
  return tl::unexpected(errorOf(path, SQLITE_NOTADB, 0, "its first bytes are not those of an SQLite database"));
}

/// A write-ahead log needs a writable folder even to be read; a file that has no log can be read as it lies.
bool readAsItLies(const std::string& path) {
  struct stat info {};
  const bool log = stat((path + "-wal").c_str(), &info) == 0 && info.st_size > 0;
  return !log && access(folderOf(path).c_str(), W_OK) != 0;
}

std::string uriOf(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned char>(c));
    if (c == '?' || c == '#' || c == '%')
      uri += escaped;
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

}  // namespace

void Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text64(handle, at, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void Statement::bind(int at, std::optional<double> value) {
  if (value)
    sqlite3_bind_double(handle, at, *value);
  else
    sqlite3_bind_null(handle, at);
}
void Statement::bind(int at, std::optional<std::uint64_t> value) {
  if (value)
    sqlite3_bind_int64(handle, at, static_cast<sqlite3_int64>(*value));
  else
    sqlite3_bind_null(handle, at);
}
void Statement::bindBlob(int at, std::string_view bytes) {
  sqlite3_bind_blob64(handle, at, bytes.data() ? bytes.data() : "", bytes.size(), SQLITE_TRANSIENT);
}
std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(handle, column);
  return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(handle, column)))
               : std::string();
}
std::optional<double> Statement::optionalReal(int column) const {
  if (sqlite3_column_type(handle, column) == SQLITE_NULL) return std::nullopt;
  return real(column);
}
std::optional<std::uint64_t> Statement::optionalSize(int column) const {
  if (sqlite3_column_type(handle, column) == SQLITE_NULL) return std::nullopt;
  return static_cast<std::uint64_t>(integer(column));
}

Connection::~Connection() { sqlite3_close(db); }

Result<Connection> Connection::open(const std::string& path, Mode mode, double busySeconds) {
  if (auto fine = checkHeader(path); !fine) return tl::unexpected(fine.error());
  const bool write = mode == Mode::ReadWrite;
  const bool immutable = !write && readAsItLies(path);
  const int flags = SQLITE_OPEN_NOMUTEX | (write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
                    (immutable ? SQLITE_OPEN_URI : 0);
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2((immutable ? uriOf(path) : path).c_str(), &db, flags, nullptr);
  Connection connection(path, db);
  if (code != SQLITE_OK) return tl::unexpected(db ? connection.error() : errorOf(path, code, ENOMEM, "no memory"));
  if (auto ready = connection.prepareForUse(mode, busySeconds); !ready) return tl::unexpected(ready.error());
  return connection;
}

Result<void> Connection::prepareForUse(Mode mode, double busySeconds) {
  sqlite3_busy_timeout(db, static_cast<int>(busySeconds * 1000));
  sqlite3_extended_result_codes(db, 1);
  auto found = schemaVersion(*this);
  if (!found) return tl::unexpected(found.error());
  version = *found;
  if (mode == Mode::ReadOnly && version == 0)
    return tl::unexpected(Error{Error::Kind::Empty, file, 0, "store " + file + ": holds nothing yet; `tbemc measure` fills it"});
  if (version > 0) {
    auto check = prepare("PRAGMA quick_check(1)");
    if (!check) return tl::unexpected(check.error());
    auto row = step(*check);
    if (!row) return tl::unexpected(row.error());
    if (const std::string said = check->text(0); said != "ok") return tl::unexpected(errorOf(file, SQLITE_CORRUPT, 0, said));
  }
  if (mode == Mode::ReadOnly) return run("PRAGMA query_only = 1");
  if (auto done = setJournal(busySeconds); !done) return done;
  if (auto done = run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"); !done) return done;
  if (auto done = migrate(*this); !done) return done;
  version = kSchemaVersion;
  return {};
}

Result<void> Connection::setJournal(double busySeconds) {
  // SQLite does not call its busy handler for this change, so the waiting is done here.
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(busySeconds);
  for (;;) {
    auto done = run(onNetworkDisk(file) ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
    if (done || done.error().kind != Error::Kind::Locked || std::chrono::steady_clock::now() >= end) return done;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Result<void> Connection::run(const char* sql) {
  errno = 0;
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return tl::unexpected(error());
  return {};
}

Result<Statement> Connection::prepare(const char* sql) {
  Statement statement;
  if (sqlite3_prepare_v2(db, sql, -1, &statement.handle, nullptr) != SQLITE_OK) return tl::unexpected(error());
  return statement;
}

Result<bool> Connection::step(Statement& statement) {
  errno = 0;
  const int code = sqlite3_step(statement.handle);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(error());
}

Result<std::int64_t> Connection::number(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  auto row = step(*statement);
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->integer(0) : 0;
}

Result<void> Transaction::commit() {
  auto done = connection.run("COMMIT");
  if (done) open = false;
  return done;
}

Transaction::~Transaction() {
  // SQLite may have rolled back already (disk full); then there is nothing to undo and the code does not matter.
  if (open && !sqlite3_get_autocommit(connection.db)) sqlite3_exec(connection.db, "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace tbem::store
