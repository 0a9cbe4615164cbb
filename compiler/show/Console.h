// Output of a process: standard output and standard error, as its terminal, pipe and command line want it.
#pragma once

#include "compiler/show/Out.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::show {

class Console : public Out {
public:
  /// `readerGone`: called once nobody reads standard output any more; may be empty, and need not return.
  explicit Console(Display how, std::function<void()> readerGone = {});

  void text(std::string_view text) override;
  void plain(std::string_view text) override;
  void data(std::string_view text) override;
  void flush() override;
  void table(const report::Table& table) override;
  void ranked(report::Table table) override;
  BarStyle bars() const override;
  bool plots(const std::string& folder, const std::vector<PlotFile>& plots) override;
  bool timeline(const std::string& folder, const std::string& name, const report::Timeline& timeline) override;
  void jsonLine(std::string_view json) override;
  int diagnostics(const Session& session) override;
  void failure(std::string_view text) override;
  void error(std::string_view text) override;
  std::unique_ptr<report::Progress> progressBar() const override;

  void stageBegins(std::string_view name, std::string_view help) override;
  void stageEnds(std::string_view name, double seconds) override;
  /// On a terminal, once the work has taken half a second; on a pipe nothing.
  void progress(std::size_t done, std::size_t total, std::string_view what) override;
  void rest() override;
  void note(std::string_view text) override;
  bool opensLibrary(const OwnLibrary& library) override;

  /// The log of `--sarif`, of all diagnostics so far.
  std::string sarif() const;

protected:
  /// How diagnostics are rendered on standard error.
  std::string rendered(const Session& session) const;

private:
  report::ProgressStyle progressStyle() const;
  /// Behind what was written to standard output.
  void noticeReader() const;

  std::function<void()> readerGone;
  std::vector<std::string> sarifRuns;
  mutable std::optional<report::Progress> search;  ///< what is on the screen, not a state of the output
};

/// The page docs/errors/CODE.md, embedded in the binary; empty where there is none.
std::string_view explanationOf(Diag kind);

}  // namespace tbem::show
