// What views say to people, kept as one text: for `--emit` and `--print-after`, and for tests.
#pragma once

#include "compiler/show/Out.h"

#include <string>

namespace tbem::show {

class TextOut final : public Out {
public:
  TextOut() : Out({.verbose = true, .color = "never"}) {}
  const std::string& all() const { return written; }

  void text(std::string_view text) override { written += text; }
  void plain(std::string_view text) override { written += text; }
  void data(std::string_view text) override { written += text; }
  void flush() override {}
  void table(const report::Table& table) override;
  void ranked(report::Table table) override { this->table(table); }
  BarStyle bars() const override { return {}; }
  bool plots(const std::string& /*folder*/, const std::vector<PlotFile>& /*plots*/) override { return true; }
  bool timeline(const std::string& /*folder*/, const std::string& /*name*/, const report::Timeline& /*timeline*/) override {
    return true;
  }
  void jsonLine(std::string_view json) override;
  int diagnostics(const Session& session) override;
  void failure(std::string_view text) override;
  void error(std::string_view text) override { written += text; }
  std::unique_ptr<report::Progress> progressBar() const override;
  void note(std::string_view text) override;

private:
  std::string written;
};

}  // namespace tbem::show
