#include "compiler/options/ManPage.h"

#include "compiler/options/HelpText.h"
#include "compiler/options/OptionWords.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace tbem::driver {

namespace {

using Row = std::pair<const char*, const char*>;

constexpr std::array kStatuses = {
    Row{"0", "success"},
    Row{"1", "the program has errors"},
    Row{"2", "wrong usage, or a command that does not exist yet"},
    Row{"3", "the environment lacks something"},
    Row{"4", "a run failed"},
    Row{"5", "a limit is exceeded, or something is refuted"},
    Row{"70", "a bug of tbemc, with a file that reproduces it"},
    Row{"130", "stopped by Ctrl-C"},
};
constexpr std::array kEnvironment = {
    Row{"TBEM_STDLIB", "a folder to use instead of the embedded library"},
    Row{"TBEM_PATH", "folders of modules"},
    Row{"XDG_CACHE_HOME",
        "where compiled objects, and the files by which `measure` hands rows to its processes, are kept (default: ~/.cache)"},
    Row{"XDG_STATE_HOME", "where what is typed in dialogues is kept (default: ~/.local/state)"},
    Row{"NO_COLOR", "no colours"},
    Row{"TBEM_PROGRESS", "`at-once`: a terminal shows the progress of a search from its beginning"},
    Row{"TBEM_POWERCAP", "where counters of energy are (default: /sys/class/powercap)"},
    Row{"TBEM_FAKE", "what the backend `fake` simulates"},
    Row{"OMP_THREAD_LIMIT, GOMP_SPINCOUNT, OMP_WAIT_POLICY", "how many threads a run has, and how long they wait for work"},
};
constexpr std::array kFiles = {
    Row{"NAME.tbemdb", "beside NAME.tbem: the finished rows of its measurements (SQLite)"},
    Row{"NAME.out/", "beside NAME.tbem: plots, pages and checkpoints"},
    Row{"~/.local/state/tbemc/history", "what was typed in dialogues, for their owner alone"},
    Row{"~/.cache/tbemc/", "compiled objects and what was timed on this machine; may be removed"},
};

/// A character of UTF-8 that is not ASCII, by its number; `at` moves to its last byte.
std::string unicode(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  unsigned code = first & (0x3FU >> more);
  for (std::size_t i = 0; i < more && at + 1 < text.size(); ++i)
    code = code << 6U | (static_cast<unsigned char>(text[++at]) & 0x3FU);
  return fmt::format("\\[u{:04X}]", code);
}

/// Text in which troff finds nothing to obey, and whose quotes and dashes can be copied from the page to a shell.
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (const char c = text[at]) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '\n':
        out += ' ';
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x80)
          out += unicode(text, at);
        else
          out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

/// "TEXT:{f32,f64}" is "f32|f64".
std::string valueName(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  const std::string type = option.get_type_name();
  const std::vector<std::string> values = wordsOfType(type);
  return values.empty() ? type : fmt::format("{}", fmt::join(values, "|"));
}

void addTagged(std::string& out, const std::string& tag, const std::string& text) {
  out += fmt::format(".TP\n{}\n{}\n", tag, plain(text));
}

template <class Rows>
void addRows(std::string& out, const char* title, const Rows& rows) {
  out += fmt::format(".SH {}\n", title);
  for (const auto& [name, text] : rows) addTagged(out, bold(name), text);
}

std::string tagOf(const ManOption& option) {
  std::vector<std::string> names;
  names.reserve(option.names.size());
  for (const std::string& name : option.names) names.push_back(bold(name));
  std::string tag = fmt::format("{}", fmt::join(names, ", "));
  return option.value.empty() ? tag : tag + " " + italic(option.value);
}

void addCommand(std::string& out, const ManCommand& command) {
  out += fmt::format(".SS tbemc {}\n{}.\n.PP\n{} {}\n", plain(command.name), plain(command.help), bold("tbemc " + command.name),
                     plain(command.synopsis));
  for (const ManOption& place : command.places) addTagged(out, italic(place.names.front()), place.help);
  for (const ManOption& option : command.options) addTagged(out, tagOf(option), option.help);
}

}  // namespace

ManCommand manCommand(const std::string& name, const std::string& help, const CLI::App& app, bool oneFile) {
  ManCommand command{name, help, "[OPTIONS]", {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // not in the help
    ManOption entry{{}, valueName(*option), optionHelp(*option)};
    if (option->get_positional()) {
      const std::string place = option->get_single_name() + (option->get_expected_max() > 1 && !oneFile ? "..." : "");
      command.synopsis += option->get_required() ? " " + place : " [" + place + "]";
      entry.names.push_back(place);
      command.places.push_back(std::move(entry));
      continue;
    }
    for (const std::string& letter : option->get_snames()) entry.names.push_back("-" + letter);
    for (const std::string& word : option->get_lnames()) entry.names.push_back("--" + word);
    command.options.push_back(std::move(entry));
  }
  return command;
}

std::string manPage(const ManTexts& texts) {
  std::string out = fmt::format(
      ".\\\" Made by `tbemc doc --man` from the options of its commands.\n.TH TBEMC 1 \"\" \"{}\" \"User Commands\"\n",
      plain(texts.version));
  out +=
      ".SH NAME\ntbemc \\- compiler, interpreter and runtime for experiments on neural networks\n"
      ".SH SYNOPSIS\n\\fBtbemc\\fR \\fIFILE\\fR\n.br\n\\fBtbemc\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n"
      ".SH DESCRIPTION\nA program declares network templates, designs of experiments, and conditions on shapes. The conditions "
      "are\n"
      "checked for every row of a design, and the FLOPs and bytes of each row are computed before it runs. Rows are compiled to\n"
      "native code and measured, each in a process of its own.\n.PP\n"
      "\\fBtbemc\\fR \\fIFILE\\fR is \\fBtbemc run\\fR \\fIFILE\\fR. Every command has \\fB\\-\\-help\\fR.\n";
  if (!texts.later.empty())
    out += fmt::format(".PP\nNot there yet: {}.\n", plain(fmt::format("{}", fmt::join(texts.later, ", "))));
  out += ".SH COMMANDS\n";
  for (const ManCommand& command : texts.commands) addCommand(out, command);
  addRows(out, "EXIT STATUS", kStatuses);
  addRows(out, "ENVIRONMENT", kEnvironment);
  addRows(out, "FILES", kFiles);
  return out;
}

}  // namespace tbem::driver
