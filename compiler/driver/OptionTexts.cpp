#include "compiler/driver/OptionTexts.h"

namespace tbem::driver {

const char* whatFiles(std::string_view command) {
  if (command == "check") return "programs; - is standard input";
  if (command == "plan")
    return "buffers or a plan as CSV (id,lower,upper,size[,offset]; - is standard input), or a program (.tbem)";
  if (command == "spec")
    return "the program, - is standard input; then, if wanted, the name of one of its processes or networks (with --tests, "
           "declarations)";
  if (command == "weights") return "the program, - is standard input; or a file of arrays (.npz, .safetensors)";
  return "the program; - is standard input";
}

std::string whatBackends(std::string_view command) {
  std::string own = "backend: cpu (default), ref or fake";
  if (command == "estimate") return own + "; pytorch or pytorch-cpu: eager PyTorch on a GPU or here; none: from shapes alone";
  if (command == "fit") return own + "; pytorch or pytorch-cpu: eager PyTorch on a GPU or here";
  if (command == "report") return own + "; pytorch or pytorch-cpu: a section on eager PyTorch, on a GPU or here";
  if (command == "emit")
    return "backend of --as llvm: cpu (default), ref or fake; of json and dot: pytorch or pytorch-cpu, whose autocast's rules "
           "the graph has then";
  if (command == "what-if") return "backend: pytorch (default, and the only one)";
  if (isOneOf(command, {"run", "measure", "regress", "predict"}))
    return "backend, instead of the program's: cpu (default where it names none), ref or fake";
  return own;
}

std::string ofPlans(std::string_view command, const std::string& text) {
  if (command == "emit") return "with --as llvm: " + text;
  return isOneOf(command, {"check", "design", "weights", "what-if"}) ? "with --emit lower or code: " + text : text;
}

const char* whatOut(std::string_view command) {
  if (command == "estimate") return "folder for a plot of memory over the step (default: no plot)";
  if (command == "screen") return "folder for plots (default: none)";
  if (command == "regress") return "folder for plots (default: NAME.out beside the program)";
  if (command == "train") return "folder for checkpoints (default: NAME.out beside the program)";
  if (command == "report") return "folder for the page (default: NAME.out beside the program)";
  return "folder for plots and checkpoints (default: NAME.out beside the program)";
}

const char* whatSeed(std::string_view command) {
  if (command == "train") return "seed of weights and of the order of examples, where the program has none (default: 0)";
  if (command == "step") return "seed of inputs and weights (default: 0)";
  if (isOneOf(command, {"regress", "predict", "report"})) return "the seed with which rows were measured (default: 0)";
  return "seed of inputs, weights and the order of rows (default: 0)";
}

const char* whatDevice(std::string_view command) {
  if (command == "what-if") return "the GPU of the changes (default: h200): a100, rtx4090, .., or a record of the program";
  if (command == "report") return "a section on eager PyTorch on this GPU: a100, h200, rtx4090, .., or a record of the program";
  if (command == "fit")
    return "with --on pytorch: the GPU whose workspaces are counted (default: that of --max): a100, h200, rtx4090, .., or a "
           "record "
           "of the program";
  return "the GPU of --explain workspace (default: h200), and with --on pytorch the one whose workspaces are counted: a100, "
         "h200, "
         "rtx4090, .., or a record of the program";
}

}  // namespace tbem::driver
