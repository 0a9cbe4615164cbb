// The page of `tbemc report` in place of standard output: what a view says to people lands on it. What several views say of the
// same program (a mistake, a note) stands there once.
#pragma once

#include "compiler/show/Console.h"
#include "runtime/report/Html.h"

#include <set>
#include <string>

namespace tbem::show {

class PageOut : public Console {
public:
  PageOut(Display how, report::Page& page) : Console(std::move(how)), page(page) {}

  void text(std::string_view text) override;
  void table(const report::Table& table) override;
  void ranked(report::Table table) override { this->table(table); }
  BarStyle bars() const override { return {}; }
  bool plots(const std::string& folder, const std::vector<PlotFile>& plots) override;
  bool timeline(const std::string& folder, const std::string& name, const report::Timeline& timeline) override;
  int diagnostics(const Session& session) override;
  void failure(std::string_view text) override;
  void note(std::string_view text) override;

private:
  bool isFirst(std::string_view text) { return told.emplace(text).second; }

  report::Page& page;
  std::size_t timelines = 0;  ///< anchors are told apart by it
  std::set<std::string> told;
};

}  // namespace tbem::show
