// A command: its options, which its file lists, and what it does with them.
#pragma once

#include "compiler/driver/RunPipeline.h"
#include "compiler/experiment/Request.h"
#include "compiler/options/OptionList.h"
#include "compiler/repl/console/Outside.h"
#include "compiler/show/Out.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tbem::driver {

/// What every command has. A command's own options are a struct that begins with these.
struct CommandOptions : Request {
  StageRequest stages;
  show::Display display;
  repl::ProcessSettings process;  ///< Host::process
};

/// A command of the command line: parsing fills its options, then it runs.
class Invocation {
public:
  virtual ~Invocation() = default;
  virtual CommandOptions& options() = 0;
  /// Why an option that was given would be passed over, or "". An option is heeded or refused.
  virtual std::string unheeded(const Given& given) const = 0;
  /// The exit status.
  virtual int run(show::Out& out) const = 0;
};

/// What a command is given beside options.
enum class Takes : std::uint8_t {
  Own,             ///< nothing, or what its own options say
  Program,         ///< one program; -e may be an expression over the file's names
  ProgramInPlace,  ///< one program; -e is in place of a FILE
  Programs         ///< several, or a program and a name; -e is in place of a FILE
};

struct Command {
  const char* name;
  const char* help;
  Takes takes;
  bool runs;  ///< native code, in this process
  std::unique_ptr<Invocation> (*begin)(OptionList& list);
};

/// `Declare` lists the options, `Unheeded` is Invocation::unheeded, `Run` the command.
template <class Own, void (*Declare)(OptionList&, Own&), std::string (*Unheeded)(const Given&, const Own&),
          int (*Run)(show::Out&, const Own&)>
std::unique_ptr<Invocation> invocation(OptionList& list) {
  class OwnInvocation final : public Invocation {
  public:
    explicit OwnInvocation(OptionList& list) { Declare(list, own); }
    CommandOptions& options() override { return own; }
    std::string unheeded(const Given& given) const override { return Unheeded(given, own); }
    int run(show::Out& out) const override { return Run(out, own); }

  private:
    Own own;
  };
  return std::make_unique<OwnInvocation>(list);
}

}  // namespace tbem::driver
