// What `--json` prints, kept as lines: for programs that hold the compiler in their own process.
#pragma once

#include "compiler/show/Out.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::show {

class JsonOut final : public Out {
public:
  JsonOut() : Out({.json = true, .quiet = true, .verbose = true, .color = "never"}) {}

  /// One object each, without a line end.
  const std::vector<std::string>& lines() const { return objects; }
  /// What a command says of why it failed, and sentences beside its result.
  const std::vector<std::string>& failures() const { return failed; }
  const std::vector<std::string>& notes() const { return told; }

  void text(std::string_view text) override { note(text); }
  void plain(std::string_view text) override { note(text); }
  void data(std::string_view text) override { note(text); }
  void flush() override {}
  /// Views with `json` make no tables.
  void table(const report::Table& table) override;
  void ranked(report::Table table) override { this->table(table); }
  BarStyle bars() const override { return {}; }
  /// Nothing is written: a failure.
  bool plots(const std::string& folder, const std::vector<PlotFile>& plots) override;
  bool timeline(const std::string& folder, const std::string& name, const report::Timeline& timeline) override;
  void jsonLine(std::string_view json) override;
  int diagnostics(const Session& session) override;
  void failure(std::string_view text) override { failed.emplace_back(text); }
  void error(std::string_view text) override { failed.emplace_back(text); }
  std::unique_ptr<report::Progress> progressBar() const override;
  void note(std::string_view text) override { told.emplace_back(text); }

private:
  std::vector<std::string> objects, failed, told;
};

}  // namespace tbem::show
