// One SQLite connection to a store: opened with all checks, its errors told in words. Private to this folder.
#pragma once

#include "runtime/store/Store.h"

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <utility>

namespace tbem::store {

/// A prepared statement. Parameters count from 1, columns from 0.
class Statement {
public:
  Statement() = default;
  Statement(Statement&& other) noexcept : handle(other.handle) { other.handle = nullptr; }
  Statement& operator=(Statement&& other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Statement() { sqlite3_finalize(handle); }

  void bind(int at, std::string_view text);
  void bind(int at, std::int64_t value) { sqlite3_bind_int64(handle, at, value); }
  void bind(int at, double value) { sqlite3_bind_double(handle, at, value); }
  void bind(int at, std::optional<double> value);
  void bind(int at, std::optional<std::uint64_t> value);
  void bindBlob(int at, std::string_view bytes);
  std::string text(int column) const;
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle, column); }
  double real(int column) const { return sqlite3_column_double(handle, column); }
  std::optional<double> optionalReal(int column) const;
  std::optional<std::uint64_t> optionalSize(int column) const;

  sqlite3_stmt* handle = nullptr;
};

class Connection {
public:
  static Result<Connection> open(const std::string& path, Mode mode, double busySeconds);
  Connection(Connection&& other) noexcept : file(std::move(other.file)), db(other.db), version(other.version) {
    other.db = nullptr;
  }
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  Result<void> run(const char* sql);
  Result<Statement> prepare(const char* sql);
  /// True: a row is there; false: done.
  Result<bool> step(Statement& statement);
  /// The first column of the first row, 0 if there is none.
  Result<std::int64_t> number(const char* sql);
  std::int64_t changes() const { return sqlite3_changes64(db); }
  /// The last error of this connection as a value.
  Error error() const;

  std::string file;
  sqlite3* db = nullptr;
  int version = 0;  ///< of its tables

private:
  Connection(std::string path, sqlite3* handle) : file(std::move(path)), db(handle) {}
  Result<void> prepareForUse(Mode mode, double busySeconds);
  Result<void> setJournal(double busySeconds);
};

/// A transaction that is rolled back unless `commit` came through.
class Transaction {
public:
  explicit Transaction(Connection& on) : connection(on) {}
  Result<void> begin() {
    auto done = connection.run("BEGIN IMMEDIATE");
    open = done.has_value();
    return done;
  }
  Result<void> commit();
  ~Transaction();

private:
  Connection& connection;
  bool open = false;
};

/// Makes the tables in an empty file and brings older versions up to kSchemaVersion, in one transaction.
Result<void> migrate(Connection& connection);
/// Version of the tables in the file; 0: an empty file. Errors: not a store of ours, or a newer one.
Result<int> schemaVersion(Connection& connection);
/// The error of a code that SQLite gave for `path`.
Error errorOf(const std::string& path, int code, int systemErrno, const std::string& detail);

}  // namespace tbem::store
