#include "runtime/report/Progress.h"

#include "compiler/support/Unicode.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace tbem::report {
namespace {

/// The front of a text that takes at most `width` columns, cut between characters and with an ellipsis.
std::string shortened(const std::string& text, std::size_t width) {
  if (displayWidth(text) <= width) return text;
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = at + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    const std::string longer = kept + text.substr(at, next - at);
    if (displayWidth(longer) + 1 > width) break;
    kept = longer;
    at = next;
  }
  return width == 0 ? "" : kept + "…";
}

}  // namespace

Progress::Progress(std::function<void(std::string_view)> sink, ProgressStyle how, std::function<double()> time)
    : write(std::move(sink)), clock(std::move(time)), style(how) {
  if (!clock) clock = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  started = clock();
  // The first line comes after its ten seconds; a terminal's first drawing waits for `firstSeconds` alone.
  written = style.terminal ? -std::numeric_limits<double>::infinity() : started;
}

Progress::~Progress() { finish(); }

std::string Progress::bar() const {
  const double part = total == 0 ? 0 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const std::string count = total == 0 ? fmt::format(" {}", done) : fmt::format(" {}/{}", done, total);
  const std::string time = left < 0 ? "" : fmt::format(", {} left", seconds(left));
  const std::size_t cells = std::clamp<std::size_t>(style.width / 4, 4, 24);
  const auto eighths = static_cast<std::size_t>(part * static_cast<double>(cells) * 8);
  static constexpr std::string_view kPart[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string filled;
  for (std::size_t i = 0; i < eighths / 8; ++i) filled += "█";
  filled += kPart[eighths % 8];
  filled += std::string(cells - displayWidth(filled), ' ');
  if (style.color) filled = "\x1b[36m" + filled + "\x1b[0m";
  std::string text = "▕" + filled + "▏" + count + time;
  const std::size_t used = displayWidth(text) + 2;
  if (style.width > used + 8 && !what.empty()) text += "  " + shortened(what, style.width - 1 - used);
  return text;
}

std::string Progress::line() const {
  std::string text = fmt::format("{} of {} done, {} gone", done, total, seconds(clock() - started));
  if (left >= 0) text += fmt::format(", {} left", seconds(left));
  if (!what.empty()) text += fmt::format("; {}", what);
  return text + "\n";
}

void Progress::update(std::size_t isDone, std::size_t ofTotal, std::string_view inHand, double secondsLeft) {
  done = isDone, total = ofTotal, what = printableLine(inHand), left = secondsLeft;
  pending = true;
  if (style.quiet || finished) return;
  const double now = clock();
  const bool last = total != 0 && done == total;
  if (style.terminal && now - started < style.firstSeconds) return;
  if (now - written < (style.terminal ? (last ? 0 : style.redrawSeconds) : style.lineSeconds)) return;
  // Rewriting the line and clearing what is left of it flickers less than clearing it first.
  write(style.terminal ? "\r" + bar() + "\x1b[K" : line());
  shown = style.terminal;
  written = now;
  pending = false;
}

void Progress::note(std::string_view text) {
  if (style.quiet) return;
  write((shown ? "\r\x1b[K" : "") + printable(text) + "\n" + (shown ? bar() : ""));
}

void Progress::hide() {
  if (shown && !style.quiet) write("\r\x1b[K");
  shown = false;
}

void Progress::finish() {
  if (finished) return;
  finished = true;
  if (style.quiet) return;
  if (shown)
    write("\r\x1b[K");
  else if (!style.terminal && pending && clock() - started >= style.lineSeconds)
    write(line());
}

}  // namespace tbem::report
