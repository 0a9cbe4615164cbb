#include "compiler/embed/Session.h"

#include "compiler/driver/ImportedProgram.h"
#include "compiler/experiment/OneRowDesign.h"

#include <utility>

namespace tbem::embed {

namespace {
constexpr const char* kUnnamed = "<text>";  ///< what messages call a program without a name
}  // namespace

Session::Session(driver::Places given)
    : places(std::move(given)), checked({.path = places.modules, .stdlib = places.stdlib}, nobody) {}

void Session::load(std::string newName, std::string newText) {
  expression = newName.empty() && driver::isExpression(newText);
  name = newName.empty() ? kUnnamed : std::move(newName);
  text = std::move(newText);
}

Answer Session::importModel(const std::string& network, const std::string& document) {
  show::JsonOut out;
  driver::CommandOptions options;
  options.places = places;
  driver::ImportedProgram program;
  tl::expected<imports::Exported, imports::ExportFailure> model = imports::readExport(document);
  if (!model) {
    out.failure(driver::sentenceOf(model.error()));  // of a model that is no program there is a sentence beside the diagnostic
    return answerOf(out, driver::tellFailure(out, model.error(), driver::ModelFiles::Elsewhere));
  }
  const int status = driver::importProgram(out, options, {network, ""}, std::move(*model), program);
  if (status == kOk) {
    for (const std::string& remark : driver::remarksOn(program.imported)) out.note(remark);
    for (const imports::ImportRemark& remark : program.imported.remarks)
      out.note(driver::sentenceOf({remark.kind, remark.message, remark.place}));
    driver::showWeightNames(out, program.imported);
    load(std::move(program.file), std::move(program.text));
  }
  return answerOf(out, status);
}

Answer Session::ask(Question question, std::span<const tbem_option> options) {
  if (question == Question::Check && options.empty() && text && !expression) return checkAgain();
  const auto command = invocation(question, options);
  if (!command) return refusal(command.error());
  show::JsonOut out;
  const int status = (*command)->run(out);
  return answerOf(out, status);
}

tl::expected<std::unique_ptr<driver::Invocation>, std::string> Session::invocation(Question question,
                                                                                   std::span<const tbem_option> options) const {
  if (!text) return tl::unexpected(std::string("the session has no program: tbem_load comes first"));
  auto command = invocationOf(question, options);
  if (!command) return command;
  driver::CommandOptions& request = (*command)->options();
  request.places = places;
  if (!expression) {
    request.program.files = {name};
    request.program.contents = text;
  } else if (request.program.text) {
    return tl::unexpected(std::string("`network` is of a program: load the expression itself"));
  } else {
    request.program.text = text;
  }
  return command;
}

Answer Session::checkAgain() {
  show::JsonOut out;
  const int status = out.diagnostics(checked.check(name, *text));
  return answerOf(out, status);
}

}  // namespace tbem::embed
