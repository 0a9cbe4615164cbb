// Where views write: a terminal or pipe (Console), or the page of `tbemc report` (PageOut). Nothing else of the compiler writes
// to standard output or standard error.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/emit/OrderedJson.h"
#include "compiler/support/Events.h"
#include "compiler/support/Failed.h"
#include "runtime/report/Progress.h"
#include "runtime/report/Table.h"
#include "runtime/report/Timeline.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::show {

/// What the command line says of output.
struct Display {
  bool json = false;
  bool sarif = false;  ///< diagnostics are kept for the log that ends the command
  bool quiet = false;
  bool time = false;           ///< the time of each stage is told
  bool verbose = false;        ///< tables have every column
  std::string color = "auto";  ///< auto, always, never
  unsigned width = 0;          ///< columns of diagnostics; 0: the terminal's
};

/// Bars inside tables.
struct BarStyle {
  std::size_t width = 24;  ///< columns
  bool ascii = false;
};

struct PlotFile {
  std::string name;  ///< "table1-memory.svg"
  std::string text;
};

class Out : public Events {
public:
  explicit Out(Display how) : display(std::move(how)) {}
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

  /// Text for people, wrapped to the terminal.
  virtual void text(std::string_view text) = 0;
  template <class... T>
  void say(fmt::format_string<T...> format, T&&... values) {
    text(fmt::format(format, std::forward<T>(values)...));
  }
  /// Text for people whose lines stay as they are: CSV of a table, what a stage made.
  virtual void plain(std::string_view text) = 0;
  template <class... T>
  void print(fmt::format_string<T...> format, T&&... values) {
    plain(fmt::format(format, std::forward<T>(values)...));
  }
  /// What programs read (DOT, a program's source): as it is.
  virtual void data(std::string_view text) = 0;
  /// What was written so far is there for a reader: before something that takes long.
  virtual void flush() = 0;
  virtual void table(const report::Table& table) = 0;
  /// A table whose columns have ranks: where it is too wide, columns are left out by rank, which is told below it; what is still
  /// too wide is printed as records. With --verbose, and on a page, it has all columns.
  virtual void ranked(report::Table table) = 0;
  virtual BarStyle bars() const = 0;
  /// Writes each plot into `folder` and says where; a page shows them instead. False after saying which cannot be written.
  virtual bool plots(const std::string& folder, const std::vector<PlotFile>& plots) = 0;
  /// A timeline as a plot of this name; a page lists its rises too.
  virtual bool timeline(const std::string& folder, const std::string& name, const report::Timeline& timeline) = 0;

  /// One object of `--json` as a line, with its `kind` and `schema` in front. A number that is not finite is null, and a field
  /// FIELD_not_finite behind it says "inf", "-inf" or "nan".
  void json(const char* kind, Json fields);
  /// What is JSON text already, and a line end.
  virtual void jsonLine(std::string_view json) = 0;

  /// All diagnostics of the session: text on standard error, or with --json `check` objects on standard output. Returns
  /// kProgramErrors if one is an error, else kOk.
  virtual int diagnostics(const Session& session) = 0;
  /// "tbemc: text" on standard error: failures of the environment, wrong usage.
  virtual void failure(std::string_view text) = 0;
  /// Its messages, each as `failure`. Returns its status.
  ExitCode fail(const Failed& failed);
  /// A line on standard error whatever the options say.
  virtual void error(std::string_view text) = 0;
  /// A long run's own bar, where `progress` is not enough: with the time left, and on a pipe a line now and then.
  virtual std::unique_ptr<report::Progress> progressBar() const = 0;

  const Display display;
};

}  // namespace tbem::show
