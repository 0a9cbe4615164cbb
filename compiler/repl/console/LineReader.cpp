#include "compiler/repl/console/LineReader.h"

#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace tbem::repl {

namespace {

class PipeReader final : public LineReader {
public:
  PipeReader() = default;
  ~PipeReader() override { std::free(buffer); }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  Line read(const std::string& /*prompt*/) override {
    const ssize_t count = ::getline(&buffer, &room, stdin);
    if (count < 0) return {};
    Line line{Line::Kind::Text, {buffer, static_cast<std::size_t>(count)}};
    if (line.text.ends_with('\n')) line.text.pop_back();
    if (line.text.ends_with('\r')) line.text.pop_back();
    return line;
  }

private:
  char* buffer = nullptr;  ///< getline's own
  std::size_t room = 0;
};

/// The characters of this thread are those of the user's locale while it lives: the library that edits lines asks for them.
class UsersCharacters {
public:
  UsersCharacters() : ours(::newlocale(LC_CTYPE_MASK, "", nullptr)) {
    if (ours != nullptr) before = ::uselocale(ours);
  }
  ~UsersCharacters() {
    if (ours == nullptr) return;
    ::uselocale(before);
    ::freelocale(ours);
  }
  UsersCharacters(const UsersCharacters&) = delete;
  UsersCharacters& operator=(const UsersCharacters&) = delete;

private:
  locale_t ours = nullptr, before = nullptr;
};

constexpr int kHistory = 1000;  ///< entries that are kept

class TerminalReader final : public LineReader {
public:
  TerminalReader(const std::string& historyFile, Interrupts* interrupts, Complete complete)
      : file(historyFile), interrupts(interrupts), complete(std::move(complete)) {
    edit = ::el_init("tbemc", stdin, stdout, stderr);
    past = ::history_init();
    HistEvent event;
    ::history(past, &event, H_SETSIZE, kHistory);
    ::history(past, &event, H_SETUNIQUE, 1);
    if (!file.empty()) ::history(past, &event, H_LOAD, file.c_str());
    ::el_set(edit, EL_CLIENTDATA, this);
    ::el_set(edit, EL_PROMPT, promptOf);
    ::el_set(edit, EL_EDITOR, "emacs");
    ::el_set(edit, EL_SIGNAL, 0);
    ::el_set(edit, EL_HIST, ::history, past);
    ::el_set(edit, EL_GETCFN, readCharacter);
    ::el_set(edit, EL_ADDFN, "tbem-complete", "what may stand here", completeHere);
    ::el_set(edit, EL_BIND, "^I", "tbem-complete", nullptr);
    ::el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    ::el_source(edit, nullptr);  // the user's own keys
  }
  ~TerminalReader() override {
    ::history_end(past);
    ::el_end(edit);
  }
  TerminalReader(const TerminalReader&) = delete;
  TerminalReader& operator=(const TerminalReader&) = delete;

  Line read(const std::string& text) override {
    prompt = text;
    interrupted = false;
    const Interruptible asking(interrupts);
    ::el_resize(edit);
    int count = 0;
    const char* typed = ::el_gets(edit, &count);
    if (interrupted) {
      std::fputs("\n", stdout);
      return {Line::Kind::Interrupted, {}};
    }
    if (typed == nullptr || count <= 0) {
      std::fputs("\n", stdout);
      return {};
    }
    Line line{Line::Kind::Text, typed};
    if (line.text.ends_with('\n')) line.text.pop_back();
    return line;
  }

  void keep(const std::string& entry) override {
    HistEvent event;
    ::history(past, &event, H_ENTER, entry.c_str());
    if (file.empty()) return;
    std::error_code ignored;  // a history that cannot be kept keeps nobody from working
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
    ::history(past, &event, H_SAVE, file.c_str());
  }

  bool isTerminal() const override { return true; }

private:
  static TerminalReader& of(EditLine* edit) {
    void* data = nullptr;
    ::el_get(edit, EL_CLIENTDATA, &data);
    return *static_cast<TerminalReader*>(data);
  }

  static char* promptOf(EditLine* edit) { return of(edit).prompt.data(); }

  /// As the library's own, but Ctrl-C ends the line.
  static int readCharacter(EditLine* edit, wchar_t* into) {
    TerminalReader& reader = of(edit);
    std::mbstate_t state{};
    for (;;) {
      // Asked each time, as Ctrl-C may come before anything waits that it would wake.
      reader.interrupted = reader.interrupts != nullptr && reader.interrupts->asked();
      if (reader.interrupted) return -1;
      constexpr int kWhile = 100;  // milliseconds
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = ::poll(&input, 1, kWhile);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      char byte = 0;
      const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return static_cast<int>(count);
      const std::size_t used = std::mbrtowc(into, &byte, 1, &state);
      if (used == static_cast<std::size_t>(-2)) continue;  // the rest of the character is to come
      if (used == static_cast<std::size_t>(-1)) {
        state = {};
        *into = L'?';
      }
      return 1;
    }
  }

  static unsigned char completeHere(EditLine* edit, int /*key*/) {
    TerminalReader& reader = of(edit);
    const LineInfo* info = ::el_line(edit);
    const std::string typed(info->buffer, info->cursor);
    const serve::Completions completions = reader.complete(typed);
    const std::string word = typed.substr(std::min(completions.begin, typed.size()));
    std::vector<std::string> fitting;
    for (const serve::Completion& each : completions.list) {
      const std::string& insert = each.insert.empty() ? each.label : each.insert;
      if (insert.starts_with(word) && std::ranges::find(fitting, insert) == fitting.end()) fitting.push_back(insert);
    }
    if (fitting.empty()) return CC_REFRESH_BEEP;
    std::string common = fitting.front();
    for (const std::string& each : fitting)
      common.resize(static_cast<std::size_t>(std::ranges::mismatch(common, each).in1 - common.begin()));
    if (common.size() > word.size()) {
      ::el_insertstr(edit, common.substr(word.size()).c_str());
      return CC_REFRESH;
    }
    if (fitting.size() == 1) return CC_REFRESH;
    std::fputs("\n", stdout);
    constexpr std::size_t kMostShown = 60;
    for (std::size_t i = 0; i < std::min(fitting.size(), kMostShown); ++i)
      std::fprintf(stdout, "%s%s", i == 0 ? "" : "  ", fitting[i].c_str());
    if (fitting.size() > kMostShown) std::fprintf(stdout, "  and %zu more", fitting.size() - kMostShown);
    std::fputs("\n", stdout);
    return CC_REDISPLAY;
  }

  const UsersCharacters characters;
  std::string file, prompt;
  Interrupts* interrupts;
  Complete complete;
  bool interrupted = false;
  EditLine* edit = nullptr;
  History* past = nullptr;
};

}  // namespace

std::unique_ptr<LineReader> pipeReader() { return std::make_unique<PipeReader>(); }

std::unique_ptr<LineReader> terminalReader(const std::string& history, Interrupts* interrupts, Complete complete) {
  return std::make_unique<TerminalReader>(history, interrupts, std::move(complete));
}

}  // namespace tbem::repl
