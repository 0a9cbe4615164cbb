#include "compiler/driver/Commands.h"

#include <CLI/CLI.hpp>

namespace tbem::driver {

const std::vector<const Command*>& commands() {
  static const std::vector<const Command*> list = {&kRun,     &kCheck,   &kDesign,  &kEstimate, &kFit,   &kWhatIf,  &kScreen,
                                                   &kSpec,    &kStep,    &kWeights, &kMeasure,  &kTrain, &kPerturb, &kRegress,
                                                   &kPredict, &kReport,  &kEmit,    &kImport,   &kPlan,  &kReplay,  &kNew,
                                                   &kFormat,  &kExplain, &kDoc,     &kDoctor,   &kLsp,   &kRepl,    &kCompletion};
  return list;
}

bool takesOne(const Command& command) { return command.takes == Takes::Program || command.takes == Takes::ProgramInPlace; }

void forEachCommand(const std::function<void(const Command& command, const CLI::App& options)>& visit) {
  for (const Command* command : commands()) {
    CLI::App app;
    app.set_help_flag("-h,--help", "this help");
    OptionList list(app);
    const std::unique_ptr<Invocation> begun = command->begin(list);  // holds what the options fill
    completeOptions(app);
    visit(*command, app);
  }
}

const std::vector<std::pair<const char*, const char*>>& laterCommands() {
  static const std::vector<std::pair<const char*, const char*>> list = {
      {"watch", "run with the live page"},
      {"compare", "two results with a verdict"},
  };
  return list;
}

}  // namespace tbem::driver
