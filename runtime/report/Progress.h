// Progress of a long run: a bar with the time left on a terminal, a line every ten seconds where there is none.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tbem::report {

struct ProgressStyle {
  bool terminal = false;  ///< redraw one line; else write a line now and then
  bool quiet = false;     ///< write nothing
  bool color = false;
  std::size_t width = 80;      ///< columns of the terminal
  double lineSeconds = 10;     ///< between lines where there is no terminal
  double redrawSeconds = 0.1;  ///< at most so often on a terminal,
  double firstSeconds = 0;     ///< and nothing there before so long
};

class Progress {
public:
  /// `write` gets text for standard error, complete with line ends; `clock` gives monotonic seconds (empty: steady_clock).
  Progress(std::function<void(std::string_view)> write, ProgressStyle style, std::function<double()> clock = {});
  ~Progress();  ///< as `finish`
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` (0: not known), what is in hand ("row 12 batch=64 cpu"), seconds left (negative: unknown).
  void update(std::size_t done, std::size_t total, std::string_view what, double secondsLeft);
  /// A line of its own above the bar (a row that failed, say).
  void note(std::string_view line);
  /// Removes the bar until the next `update`: somebody else writes to the terminal.
  void hide();
  /// Removes the bar; on no terminal writes the last state if it was not written.
  void finish();

private:
  std::string bar() const;
  std::string line() const;
  std::function<void(std::string_view)> write;
  std::function<double()> clock;
  ProgressStyle style;
  std::size_t done = 0, total = 0;
  std::string what;
  double left = -1, started = 0, written = -1;
  bool shown = false, pending = false, finished = false;
};

}  // namespace tbem::report
