// SQLite's result codes in words, each with a way out.
#include "runtime/store/Connection.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace tbem::store {
namespace {

bool outOfRoom(int systemErrno) { return systemErrno == ENOSPC || systemErrno == EDQUOT || systemErrno == EFBIG; }

Error::Kind kindOf(int code, int systemErrno) {
  if (code == SQLITE_CANTOPEN_DIRTYWAL) return Error::Kind::ReadOnly;
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error::Kind::Locked;
    case SQLITE_FULL:
      return Error::Kind::DiskFull;
    case SQLITE_READONLY:
      return Error::Kind::ReadOnly;
    case SQLITE_NOTADB:
      return Error::Kind::NotOurs;
    case SQLITE_CORRUPT:
      return Error::Kind::Corrupt;
    case SQLITE_IOERR:
      return outOfRoom(systemErrno) ? Error::Kind::DiskFull : Error::Kind::Other;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return outOfRoom(systemErrno) ? Error::Kind::DiskFull : Error::Kind::CannotOpen;
    default:
      return Error::Kind::Other;
  }
}

const char* whatAndWayOut(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::CannotOpen:
      return "cannot be opened; see that its folder exists and may be written to, or give another place with --store";
    case Error::Kind::Locked:
      return "is locked by another process; wait for it, or end it";
    case Error::Kind::DiskFull:
      return "has no room to grow: the disk, a quota or a limit of file size is reached; what was committed is safe; make room "
             "and run the same command again";
    case Error::Kind::ReadOnly:
      return "may not be written to; change its permissions or give another place with --store";
    case Error::Kind::NotOurs:
      return "is not a store of tbemc and was left as it is; give another place with --store";
    case Error::Kind::Corrupt:
      return "is damaged and was left as it is; move it away and measure anew, or save its rows with `sqlite3 FILE .recover`";
    case Error::Kind::NewerSchema:
      return "was written by a newer tbemc; use that one, or give another place with --store";
    case Error::Kind::Empty:  // has a message of its own
    case Error::Kind::Other:
      return "could not be used";
  }
  return "";
}

}  // namespace

Error errorOf(const std::string& path, int code, int systemErrno, const std::string& detail) {
  Error error{kindOf(code, systemErrno), path, code, {}};
  error.message = fmt::format("store {}: {}", path, whatAndWayOut(error.kind));
  if (!detail.empty() || code != 0) {
    error.message += fmt::format(" [{}", detail);
    if (code != 0) error.message += fmt::format("{}SQLite {}", detail.empty() ? "" : ", ", code);
    if (systemErrno != 0) error.message += fmt::format(", {}", std::strerror(systemErrno));
    error.message += "]";
  }
  return error;
}

Error Connection::error() const {
  const int left = errno;  // a failed commit does not hand on the system's number (SQLite 3.40); what the call left behind is it
  const int code = sqlite3_extended_errcode(db);
  const int primary = code & 0xFF;
  const bool system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL;
  const int known = sqlite3_system_errno(db);
  return errorOf(file, code, !system ? 0 : known != 0 ? known : left, sqlite3_errmsg(db));
}

}  // namespace tbem::store
