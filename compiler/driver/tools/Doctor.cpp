// tbemc doctor: what this machine has for us, what passed and what is missing, with the way out.
#include "compiler/devices/Findings.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/show/Out.h"

#include <nlohmann/json.hpp>

#include <string>

namespace tbem::driver {

namespace {

struct DoctorOptions : CommandOptions {
  bool measureMachine = false;
  std::string python;
};

void declare(OptionList& list, DoctorOptions& o) {
  list.flag("--measure", o.measureMachine, "measure this machine's rates, for --roofline cpu");
  addPython(list, o.python);
  addDisplay(list, o, {.width = nullptr});
}

std::string unheeded(const Given& /*given*/, const DoctorOptions& /*options*/) { return {}; }

int run(show::Out& out, const DoctorOptions& options) {
  for (const Finding& finding : lookAtMachine(options.measureMachine, options.python)) {
    if (out.display.json)
      out.json("doctor", {{"what", finding.what}, {"ok", finding.good}, {"text", finding.text}});
    else
      out.print("{:>3} {:<16} {}\n", finding.good ? "ok" : "--", finding.what, finding.text);
  }
  return kOk;
}

}  // namespace

const Command kDoctor = {"doctor", "what this machine has, and what is missing", Takes::Own, false,
                         invocation<DoctorOptions, declare, unheeded, run>};

}  // namespace tbem::driver
