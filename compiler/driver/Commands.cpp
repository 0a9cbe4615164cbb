#include "compiler/driver/Commands.h"

namespace tbem::driver {

const std::vector<const Command*>& commands() {
  static const std::vector<const Command*> list = {&kRun,    &kCheck, &kDesign,  &kEstimate,  &kFit,    &kWhatIf,  &kScreen,
                                                   &kSpec,   &kStep,  &kWeights, &kMeasure,   &kTrain,  &kRegress, &kPredict,
                                                   &kReport, &kEmit,  &kPlan,    &kReplay,    &kFormat, &kExplain, &kDoc,
                                                   &kDoctor, &kLsp,   &kRepl,    &kCompletion};
  return list;
}

const std::vector<std::pair<const char*, const char*>>& laterCommands() {
  static const std::vector<std::pair<const char*, const char*>> list = {
      {"perturb", "search for slow inputs"},     {"watch", "run with the live page"},
      {"compare", "two results with a verdict"}, {"import", "a program from an ONNX model"},
      {"new", "a new program from a template"},
  };
  return list;
}

}  // namespace tbem::driver
