#include "compiler/driver/ImportFailures.h"

#include "compiler/diagnostics/Session.h"
#include "compiler/diagnostics/tables/Import.h"
#include "compiler/support/Failed.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

namespace tbem::driver {

namespace {

/// The line that a place "model.py:12" names, as a part of the session's sources; none where it is no such place, or where there
/// is no such line.
SrcRange lineOf(Session& session, const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return {};
  std::size_t number = 0;
  const char* const end = place.data() + place.size();
  const auto [stop, wrong] = std::from_chars(place.data() + colon + 1, end, number);
  if (wrong != std::errc() || stop != end || number == 0) return {};
  const std::string file = place.substr(0, colon);
  const std::deque<Source>& known = session.sources.all();
  const auto at = std::ranges::find(known, file, &Source::name);
  const Source* source = at == known.end() ? nullptr : &*at;
  if (source == nullptr) {
    const auto read = session.sources.addFile(file);
    if (!read) return {};  // the place is told as a text
    source = *read;
  }
  if (number > source->lineStarts.size()) return {};
  const auto first = source->base + source->lineStarts[number - 1];
  const std::string_view line = session.sources.line(first);
  const std::size_t begin = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return {static_cast<Loc>(first + begin), static_cast<Loc>(first + last + 1)};
}

/// The way out, where it is the same for all failures of a kind.
std::string_view hintOf(const imports::ExportFailure& failure) {
  // A line of the model that raises is no matter of what the model is called with.
  if (failure.kind == diag::model_not_made && !failure.place.empty()) return {};
  static const std::map<Diag, std::string_view> kHints = {
      {diag::model_not_made, "--args has the arguments that MODEL is called with: --args 'depth=18'"},
      {diag::model_not_exported,
       "torch.export needs a `forward` that does the same whatever the tensors hold; --sizes fixed leaves no size open"},
      {diag::model_file_damaged, "export it anew, or copy it anew from where it is whole"},
      {diag::python_without_torch, "--python PATH names a Python that has PyTorch 2.6 or later, and the model"}};
  const auto at = kHints.find(failure.kind);
  return at == kHints.end() ? std::string_view() : at->second;
}

/// What the model or the command line lacks is the user's to mend; what the machine or a file lacks, the environment's.
ExitCode statusOf(Diag kind) {
  switch (kind) {
    case diag::operator_without_form:
      return kProgramErrors;
    case diag::model_not_found:
    case diag::model_not_made:
    case diag::model_inputs:
    case diag::model_not_exported:
    case diag::model_too_large:
      return kUsage;
    default:
      return kEnvironment;
  }
}

/// At the first of several places of the model.
void reportCalls(Session& session, const imports::ImportRemark& remark, ModelFiles files) {
  const SrcRange line = files == ModelFiles::Here ? lineOf(session, remark.place) : SrcRange();
  Diagnostic& diagnostic = session.sink.report(remark.kind, line, remark.message);
  const std::string at = line.valid() || remark.place.empty() ? "" : "at " + remark.place;
  if (remark.count > 1)
    diagnostic.note(fmt::format("it is called {} times{}{}", remark.count, at.empty() ? "" : ", first ", at));
  else if (!at.empty())
    diagnostic.note(at);
}

}  // namespace

std::string sentenceOf(const imports::ExportFailure& failure) {
  return failure.place.empty() ? failure.message : fmt::format("{} ({})", failure.message, failure.place);
}

int tellFailure(show::Out& out, const imports::ExportFailure& failure, ModelFiles files) {
  Session session;
  const SrcRange line = files == ModelFiles::Here ? lineOf(session, failure.place) : SrcRange();
  Diagnostic& diagnostic = session.sink.report(failure.kind, line, failure.message);
  if (!line.valid() && !failure.place.empty()) diagnostic.note("at " + failure.place);
  if (const std::string_view hint = hintOf(failure); !hint.empty()) diagnostic.note(std::string(hint));
  out.diagnostics(session);
  return statusOf(failure.kind);
}

int tellLacking(show::Out& out, const std::vector<imports::LackingOperator>& operators, ModelFiles files) {
  Session session;
  for (const imports::LackingOperator& op : operators) {
    const std::string why = op.why.empty() ? "" : ": " + op.why;
    reportCalls(
        session,
        {diag::operator_without_form, fmt::format("`{}` has no form in the language yet{}", op.op, why), op.place, op.count},
        files);
  }
  out.diagnostics(session);
  return kProgramErrors;
}

void tellRemarks(show::Out& out, const std::vector<imports::ImportRemark>& remarks, ModelFiles files) {
  if (remarks.empty()) return;
  Session session;
  for (const imports::ImportRemark& remark : remarks) reportCalls(session, remark, files);
  out.diagnostics(session);
}

int tellDifference(show::Out& out, const std::string& why) {
  Session session;
  session.sink.report(diag::program_is_not_model, {}, why);
  return out.diagnostics(session);
}

}  // namespace tbem::driver
