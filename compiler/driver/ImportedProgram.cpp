#include "compiler/driver/ImportedProgram.h"

#include "compiler/diagnostics/Session.h"
#include "compiler/diagnostics/tables/Import.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/run/weights/ListWeights.h"
#include "compiler/support/NameCover.h"
#include "compiler/syntax/format/Format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

/// What a program without imports knows.
std::set<std::string> libraryNames() {
  const std::unique_ptr<Workspace> empty = workspaceOf("", "<empty>", "", {});
  const std::vector<std::string> names = empty->program->names(empty->program->main());
  return {names.begin(), names.end()};
}

std::string listText(std::string text, const std::vector<imports::LackingOperator>& list) {
  for (const imports::LackingOperator& op : list)
    text += fmt::format("\n  {}, {} time{}{}{}", op.op, op.count, op.count == 1 ? "" : "s",
                        op.place.empty() ? "" : ", first at " + op.place, op.why.empty() ? "" : ": " + op.why);
  return text;
}

/// The weights that the model does not train, as clause `freeze` names them; empty: it trains all.
std::vector<std::string> frozenPlaces(const std::vector<imports::WeightName>& weights) {
  std::vector<std::string> frozen, others;
  for (const imports::WeightName& weight : weights) {
    if (!weight.isLearned) continue;
    std::string dotted;  // a turn of a loop is a module in the loop
    for (const char letter : weight.ours) dotted += letter == '[' ? std::string(".[") : std::string(1, letter);
    (weight.isFrozen ? frozen : others).push_back(std::move(dotted));
  }
  NameCover cover = coverOf(frozen, others);
  std::vector<std::string> places = std::move(cover.modules);
  for (std::string& module : places) module.pop_back();
  places.insert(places.end(), cover.alone.begin(), cover.alone.end());
  for (std::string& place : places) {
    for (std::size_t dot = place.find(".["); dot != std::string::npos; dot = place.find(".[", dot)) place.erase(dot, 1);
  }
  return places;
}

/// A design of one row, with the shapes that the model was exported for.
std::string designText(const imports::Imported& imported) {
  std::string text = fmt::format("\ndesign {0}_rows of {0} {{\n", imported.network);
  for (const imports::NetworkInput& input : imported.inputs)
    text += fmt::format("  input {}: [{}]\n", input.name, fmt::join(input.shape, ", "));
  const std::vector<std::string> frozen = frozenPlaces(imported.weights);
  if (!frozen.empty()) text += fmt::format("  freeze {}\n", fmt::join(frozen, ", "));
  return text + "}\n";
}

/// Why the program's weights are not the model's, or "".
std::string weightsDiffer(const graph::Row& row, const imports::Imported& imported) {
  std::map<std::string, imports::WeightName> theirs;
  for (const imports::WeightName& weight : imported.weights) theirs.emplace(weight.ours, weight);
  for (const ListedArray& array : weightsOf(row)) {
    const auto known = theirs.find(array.name);
    if (known == theirs.end()) return fmt::format("the program has {}, and the model no such weight", array.name);
    if (known->second.shape != array.shape)
      return fmt::format("{} is [{}] in the program, and {} [{}] in the model", array.name, fmt::join(array.shape, ", "),
                         known->second.theirs, fmt::join(known->second.shape, ", "));
    theirs.erase(known);
  }
  return theirs.empty() ? "" : fmt::format("the model has {}, and the program no such weight", theirs.begin()->second.theirs);
}

/// The program in the formatter's layout. What was written has to be a program: that it is none is our mistake.
std::string formatted(const std::string& name, const std::string& text) {
  Session session;
  const std::optional<std::string> layout = syntax::format(session.sources.add(name, text), session.sink);
  return layout.value_or(text);
}

/// Whether nothing is wrong with a program but that its sizes, or what is counted of them, are no numbers of 64 bits.
bool isTooLarge(const DiagnosticSink& sink) {
  const auto isOther = [](const Diagnostic& one) { return one.severity == Severity::Error && one.kind != diag::number_overflow; };
  return sink.hasErrors() && std::ranges::none_of(sink.all(), isOther);
}

/// Reads what was written as any program is read: it has to be one, with the model's weights.
int check(show::Out& out, const CommandOptions& options, const ImportedProgram& program) {
  CommandOptions request = options;
  request.program.files = {program.file};
  request.program.contents = program.text;
  PipelineState state(request, out);
  state.firstRowOnly = true;
  const Progressed done = runPipeline(out, state, options.stages, "graph");
  const RowState* const row = done.proceed ? firstRow(out, state, "the program has no row") : nullptr;
  if (!done.proceed && state.workspace != nullptr && isTooLarge(state.sink()))
    return tellFailure(out,
                       {diag::model_too_large,
                        "the model is too large: what is counted of it leaves the range of 64-bit whole numbers; a smaller "
                        "--input takes less",
                        ""},
                       ModelFiles::Elsewhere);
  const std::string differs = row == nullptr ? "it is no program" : weightsDiffer(*row->elaborated, program.imported);
  if (differs.empty()) return finish(out, state, kOk);
  out.data(program.text);
  return tellDifference(out, differs);
}

}  // namespace

std::vector<std::string> remarksOn(const imports::Imported& imported) {
  std::vector<std::string> remarks;
  if (!imported.opaque.empty())
    remarks.push_back(
        listText("operators that have no form in the language yet are opaque: their bytes are known, their FLOPs are not, and "
                 "no step runs:",
                 imported.opaque));
  if (!imported.unread.empty())
    remarks.push_back(fmt::format("left out, as the model does not read {} when it does not train: {}{}",
                                  imported.unread.size() == 1 ? "it" : "them", imported.unread.front(),
                                  imported.unread.size() == 1 ? "" : fmt::format(" and {} more", imported.unread.size() - 1)));
  if (!imported.fixed.empty())
    remarks.push_back(fmt::format("sizes that the model computes from open ones, and that are numbers here: {}",
                                  fmt::join(imported.fixed, ", ")));
  return remarks;
}

void showWeightNames(show::Out& out, const imports::Imported& imported) {
  Json weights = Json::array();
  for (const imports::WeightName& weight : imported.weights)
    weights.push_back({{"model", weight.theirs}, {"program", weight.ours}});
  out.json("imported", {{"weights", std::move(weights)}});
}

int importProgram(show::Out& out, const CommandOptions& options, const ImportRequest& request, imports::Exported model,
                  ImportedProgram& program) {
  program.imported = imports::programOf(std::move(model), request.network, libraryNames(), request.strict);
  const imports::Imported& imported = program.imported;
  if (!imported.lacking.empty()) return tellLacking(out, imported.lacking, request.files);
  tellRemarks(out, imported.remarks, request.files);
  program.file = request.file.empty() ? imported.network + ".tbem" : request.file;
  program.text = formatted(program.file, imported.text + designText(imported));
  return check(out, options, program);
}

}  // namespace tbem::driver
