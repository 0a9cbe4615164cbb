// Tests made from specifications: `tbemc spec --tests`.
#pragma once

#include "compiler/emit/OrderedJson.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/spec/network/Contract.h"
#include "compiler/spec/tests/Oracle.h"
#include "compiler/spec/tests/Vibration.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::driver {

/// A specification and its cases.
struct TestedSpec {
  spec::ProcessModel& model;
  std::vector<spec::Scenario> scenarios;
  spec::TestSuite suite;

  const std::string& name() const { return model.decl->name.text; }
  /// What a program is given, and what the cases are listed by: values of the ports that have data, by their names.
  Json inputs(const spec::TestCase& one) const;
  /// The value of an input as text; "" where it has no data.
  std::string cell(const spec::TestCase& one, const spec::Variable& variable) const;
  /// What is listed: the inputs that bear a name.
  std::vector<const spec::Variable*> columns() const;
};

/// A value as programs read and write it: numbers, truth values, texts, members of enumerations by their names, and lists of
/// them.
Json jsonOf(const spec::ProcessModel& model, const spec::Variable& variable, std::span<const std::optional<Rational>> point);

/// What came of a case.
struct CaseResult {
  enum class Verdict : std::uint8_t { Passed, Failed, Crashed, TimedOut, Malformed } verdict{};
  std::string reason;  ///< where it did not pass
  Json outputs;        ///< null: none
};
const char* word(CaseResult::Verdict verdict);
std::size_t countOf(const std::vector<CaseResult>& results, CaseResult::Verdict verdict);

/// Runs a program on one case: the case as one JSON object on its standard input, its answer as one on its standard output. The
/// answer is judged by the specification.
CaseResult runCase(const TestedSpec& spec, spec::Oracle& oracle, std::size_t number, const std::string& command, double seconds);

/// Reports the first case of each kind to which a program gave no answer that can be judged: what was expected, what came, how to
/// run that case alone.
void reportUnanswered(DiagnosticSink& sink, const TestedSpec& spec, const std::vector<CaseResult>& results,
                      const std::string& command);

/// Elaborates a network, block or operator at cases of its own conditions.
class ShapeTrials {
public:
  /// All are to outlive this.
  ShapeTrials(Workspace& workspace, const Target& target, const spec::Contract& contract, const TestedSpec& spec);
  /// Passed: built, with results of the declared shapes; or refused by its own conditions, where it is to be. The session's
  /// diagnostics stay as they are.
  CaseResult run(std::size_t number);

private:
  std::optional<std::vector<std::vector<std::int64_t>>> elaborate(const spec::Point& point);
  CaseResult refusal(const spec::TestCase& one, const std::optional<Diagnostic>& mistake) const;
  CaseResult judge(const spec::TestCase& one, const std::vector<std::vector<std::int64_t>>& shapes, spec::Point point);

  Workspace& workspace;
  const Target& target;
  const spec::Contract& contract;
  const TestedSpec& spec;
  spec::Oracle oracle;
};

}  // namespace tbem::driver
