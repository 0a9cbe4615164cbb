// What is asked of a program: which one, which of its rows, and how their steps are made. Plain data, which commands fill from
// their options and an embedding program fills itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem {
class Interrupts;
}

namespace tbem::driver {

/// Which program.
struct ProgramRequest {
  std::vector<std::string> files;  ///< program files; "-": standard input
  /// What the first of `files` contains, which then is not read and need not exist; what it imports is still looked for beside
  /// it.
  std::optional<std::string> contents;
  std::optional<std::string> text;  ///< the program itself, or one of a file's networks with its parameters
  /// What standard input or a shell's pipe had, once it was read: a command may load it more than once. Copies share it.
  std::shared_ptr<std::optional<std::string>> inherited = std::make_shared<std::optional<std::string>>();
  std::vector<std::string> inputs;  ///< "image=16,3,224,224", of a program without a design
  std::string task;                 ///< of a program without a design
  std::vector<std::string> freeze;  ///< weights of one that stay as they are: "encoder", "*.bias"
  std::vector<std::string> groups;  ///< optimisers of some of its weights: "sgd(lr: 0.1) on head"
  /// A factor whose levels the command tries itself: in a design that is made of `inputs` it needs none. "": none.
  std::string varied;
};

/// Which of its rows.
struct RowRequest {
  std::string design;                 ///< only this one; "": all
  std::string at;                     ///< "depth=16,batch=64": only rows with these levels
  std::optional<std::uint64_t> grid;  ///< every combination of levels, where there are so many at most
};

/// How steps are made, and where they run.
struct Target {
  std::string backend;         ///< "cpu", "ref", "fake", "pytorch", "pytorch-cpu"; "": the program's, else the command's own
  std::string device;          ///< of backend cuda: the card that is planned for where there is none; "": the machine's
  unsigned threads = 0;        ///< 0: all processors
  std::string dtype;           ///< "f32", "f64"; "": the program's
  std::string tune;            ///< "off", "on", "within 10 %" (Tuning.h); "": as the program says, else off
  std::uint64_t seed = 0;      ///< of inputs, weights and the order of rows
  bool keepGradients = false;  ///< of a planned step: to its end
  bool everyUpdate = false;    ///< the graph is shown: PyTorch's rules of one update are not enough
  bool recordCalls = false;    ///< the network is written in another language: what its operators were written as is kept
  /// Libraries of the program's own operators: to open one runs code of it.
  enum class OwnCode : std::uint8_t {
    Closed,  ///< what the declarations say must do
    Told,    ///< opened; a library that is new here is told of first
  };
  OwnCode ownCode = OwnCode::Closed;
};

/// How campaigns run.
struct CampaignRequest {
  std::string worker;                  ///< the program that measures a row (worker/Worker.h), of this version
  std::string on;                      ///< backends as the clause `on` has them, instead of the program's; "": those
  std::string python;                  ///< of rows that a framework measures: foreign::Surroundings
  std::string store;                   ///< where finished rows are kept; "": beside the program
  bool dryRun = false, fresh = false;  ///< fresh: rows and points of perturbations anew, whatever the store has
  std::optional<double> maxTime;       ///< seconds
  std::optional<std::uint64_t> maxRows;
  double rowTime = 600;            ///< seconds a row may take; 0: no limit
  std::string cards;               ///< "2", "all": how many cards rows on `cuda` run on side by side; "": one
  std::optional<unsigned> repeat;  ///< processes for each row; nothing: the program's number
  bool declaredOnly = false;       ///< a program that declares no `measure` has none; else its designs are measured once
  std::string predictAt;           ///< "depth=16,batch=64": predict there, instead of where the program says; "": not
};

/// How trainings run.
struct TrainingRequest {
  std::string folder;  ///< of checkpoints; "": beside the program
  bool fresh = false;  ///< anew, whatever a checkpoint has
};

/// Where modules and compiled code are, of a program that does not want the environment's variables to be read for it.
struct Places {
  std::vector<std::string> modules;   ///< folders in which modules are looked for behind the program's own (TBEM_PATH)
  std::optional<std::string> stdlib;  ///< a folder in place of the embedded library (TBEM_STDLIB)
  std::string cache;                  ///< folder of compiled steps; "": none are kept
};

struct Request {
  ProgramRequest program;
  RowRequest rows;
  Target target;
  CampaignRequest campaign;
  TrainingRequest training;
  std::optional<Places> places;      ///< nothing: as the environment says
  Interrupts* interrupts = nullptr;  ///< end campaigns and trainings early; nullptr: nobody does
};

}  // namespace tbem::driver
