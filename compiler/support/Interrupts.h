// Ctrl-C and its like, as a question that long runs ask between their pieces.
#pragma once

namespace tbem {

/// Who may end a long run early: a terminal by Ctrl-C, an editor by a button.
class Interrupts {
public:
  virtual ~Interrupts() = default;
  /// From now on a run asks, until `end`: what would have ended the process only ends the run.
  virtual void begin() = 0;
  virtual void end() = 0;
  /// Whether the run that asks is to end.
  virtual bool asked() const = 0;
  /// Whether the process is to end too, and not the run alone.
  virtual bool endAsked() const { return false; }
};

/// A run that asks, as long as this lives. `interrupts` may be nullptr: nobody ends it.
class Interruptible {
public:
  explicit Interruptible(Interrupts* interrupts) : interrupts(interrupts) {
    if (interrupts != nullptr) interrupts->begin();
  }
  ~Interruptible() {
    if (interrupts != nullptr) interrupts->end();
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  bool isToEnd() const { return interrupts != nullptr && interrupts->asked(); }

private:
  Interrupts* interrupts;
};

}  // namespace tbem
