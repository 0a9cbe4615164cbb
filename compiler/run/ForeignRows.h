// Rows that other programs measure: what is known of each before it runs, and the process that measures it.
#pragma once

#include "compiler/experiment/Campaigns.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/foreign/Job.h"

#include <tl/expected.hpp>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace tbem::driver {

class ForeignRows {
public:
  /// Both must outlive it.
  ForeignRows(Workspace& workspace, const Request& request);

  /// Fills identity, machine, versions and, where it cannot run here, `skip`. `processor`: what this machine's is called. False
  /// after a report: the framework cannot be given this row. `plain`: the row as it was elaborated.
  bool describe(CaseRow& row, const graph::Row& plain, const std::string& processor, unsigned threads);

  /// The process of a row that `describe` has seen. `folder`: where the programs of frameworks are put. Errors: such a file
  /// cannot be written (path and reason).
  tl::expected<measure::Command, std::string> job(const CaseRow& row, const runtime::Case& key, const std::string& folder,
                                                  double timeLimit);

private:
  using FactsOrWhy = tl::expected<foreign::PythonFacts, std::string>;

  bool describeProgram(CaseRow& row, std::string& identity);
  const FactsOrWhy& factsOf(const std::string& python);
  const std::string& whyNoCard(const std::string& python, const foreign::Framework& framework);
  /// The row's program in its framework, written once; nullptr after a report.
  const std::string* programOf(const CaseRow& row);

  Workspace& workspace;
  const Request& request;
  foreign::Surroundings surroundings;
  std::map<std::string, FactsOrWhy> facts;                                         ///< by Python
  std::map<std::pair<std::string, const foreign::Framework*>, std::string> cards;  ///< why there is none; "": there is one
  std::map<const DesignRun*, std::unique_ptr<graph::Experiment>> experiments;      ///< whose rows know their calls
  std::map<std::tuple<const DesignRun*, std::size_t, const foreign::Framework*>, std::string> programs;
  std::map<std::string, unsigned> threadsOfRow;  ///< by identity
};

}  // namespace tbem::driver
