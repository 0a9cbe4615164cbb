#include "compiler/driver/Commands.h"

namespace tbem::driver {

const std::vector<Command>& commands() {
  static const std::vector<Command> list = {
      {"run", "run the whole program: check, design, estimate, measure, regress, predict, train", runProgram},
      {"check", "syntax, names, types, specifications of every row; nothing is run", runCheck},
      {"design", "the rows of each design, and what is known of the array", runDesign},
      {"estimate", "parameters, FLOPs and memory of each row, before anything runs", runEstimate},
      {"fit", "the largest batch (or level of another factor) that fits a memory; nothing is run", runFit},
      {"what-if", "the GPUs that a step fits in PyTorch, and what changes of it would save; nothing is run", runWhatIf},
      {"screen", "the factors and operators that move parameters, FLOPs and memory; nothing is run", runScreen},
      {"spec", "the processes of a program: functional scenarios, and what is proved of them", runSpec},
      {"step", "run one row's step once; save or load its numbers", runStep},
      {"weights", "names, shapes and types of a network's weights, or of the arrays in a file", runWeights},
      {"measure", "run the rows that are not finished yet, each in a fresh process", runMeasure},
      {"train", "run the program's trainings; each goes on where its checkpoint ends", runTrain},
      {"regress", "fit the program's regressions to what was measured", runRegress},
      {"predict", "evaluate the program's predictions", runPredict},
      {"report", "one offline HTML page: designs, specifications, estimates, memory over the step, what the store holds",
       runReport},
      {"emit", "the network as json, dot or llvm", runEmit},
      {"plan", "places of buffers in one arena: of a CSV file's, or of a row's step", runPlan},
      {"replay", "a recorded history of PyTorch's CUDA allocator under the same and other options", runReplay},
      {"fmt", "format a program; keeps every comment", runFormat},
      {"explain", "explain a diagnostic: tbemc explain E0101", runExplain},
      {"doc", "documentation of an operator, block, network or function", runDoc},
      {"doctor", "what this machine has, and what is missing", runDoctor},
      {"worker", nullptr, runWorker},
  };
  return list;
}

const std::vector<std::pair<const char*, const char*>>& laterCommands() {
  static const std::vector<std::pair<const char*, const char*>> list = {
      {"perturb", "search for slow inputs"},      {"watch", "run with the live page"}, {"compare", "two results with a verdict"},
      {"import", "a program from an ONNX model"}, {"repl", "an interactive session"},  {"lsp", "the language server"},
      {"new", "a new program from a template"},
  };
  return list;
}

}  // namespace tbem::driver
