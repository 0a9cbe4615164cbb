// What listeners to campaigns and trainings have in common: what any stage tells goes to where they write.
#pragma once

#include "compiler/run/RunEvents.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

class RunView : public RunEvents {
public:
  /// Must outlive this.
  explicit RunView(show::Out& out) : out(out) {}
  void stageBegins(std::string_view name, std::string_view help) override { out.stageBegins(name, help); }
  void stageEnds(std::string_view name, double seconds) override { out.stageEnds(name, seconds); }
  void progress(std::size_t done, std::size_t total, std::string_view what) override { out.progress(done, total, what); }
  void rest() override { out.rest(); }
  bool opensLibrary(const OwnLibrary& library) override { return out.opensLibrary(library); }
  void note(std::string_view text) override { out.note(text); }

protected:
  show::Out& out;
};

}  // namespace tbem::driver
