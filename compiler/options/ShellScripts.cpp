#include "compiler/options/ShellScripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace tbem::driver {

namespace {

constexpr const char* kHead = "# Completion of {0} for {1}. Made by `{0} completion {1}` from its options; {2}\n";

/// Between single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// In a description of zsh's _arguments, where brackets and colons are marks.
std::string zshText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::vector<std::string> allNames(const CommandWords& command) {
  std::vector<std::string> names;
  for (const OptionWords& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> namesOf(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CommandWords& command : commands) names.push_back(command.name);
  return names;
}

void addZshOption(std::string& out, const OptionWords& option) {
  const std::string help = zshText(option.help);
  std::string value;
  if (!option.values.empty())
    value = fmt::format(":value:({})", fmt::join(option.values, " "));
  else if (option.takesValue)
    value = ":value:_files";
  for (const std::string& name : option.names)
    out += fmt::format("        {} \\\n", quoted(fmt::format("*{}[{}]{}", name, help, value)));
}

}  // namespace

std::string bashScript(const std::string& program, const std::vector<CommandWords>& commands) {
  std::string out = fmt::format(kHead, program, "bash", "source it, or place it where bash-completion looks");
  const std::string function = "_" + program;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "{}() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= words=\n",
                 function);
  fmt::format_to(to, "  local commands={}\n", quoted(fmt::format("{}", fmt::join(namesOf(commands), " "))));
  out +=
      "  if ((COMP_CWORD > 1)); then\n    case \" $commands \" in\n      *\" ${COMP_WORDS[1]} \"*) command=${COMP_WORDS[1]} ;;\n"
      "      *) command=run ;;\n    esac\n  fi\n  COMPREPLY=()\n  case \"$command $before\" in\n";
  for (const CommandWords& command : commands) {
    for (const OptionWords& option : command.options) {
      if (!option.takesValue) continue;
      for (const std::string& name : option.names) {
        fmt::format_to(to, "    {})", quoted(command.name + " " + name));
        if (option.values.empty())
          out += " mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n";
        else
          fmt::format_to(to, " mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\"); return ;;\n",
                         quoted(fmt::format("{}", fmt::join(option.values, " "))));
      }
    }
  }
  out += "  esac\n  if [[ $word == -* ]]; then\n    case $command in\n      '') words='--help --version' ;;\n";
  for (const CommandWords& command : commands)
    fmt::format_to(to, "      {}) words={} ;;\n", command.name, quoted(fmt::format("{}", fmt::join(allNames(command), " "))));
  out +=
      "    esac\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n    return\n  fi\n"
      "  case $command in\n    '') mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\"; compgen -f -X '!*.tbem' -- "
      "\"$word\"; "
      "compgen -d -- \"$word\") ;;\n    ";
  std::vector<std::string> programs;
  for (const CommandWords& command : commands) {
    if (command.takesPrograms) programs.push_back(command.name);
  }
  fmt::format_to(to, "{}) mapfile -t COMPREPLY < <(compgen -f -X '!*.tbem' -- \"$word\"; compgen -d -- \"$word\") ;;\n",
                 fmt::join(programs, "|"));
  out += "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n  esac\n}\n";
  fmt::format_to(to, "complete -o filenames -F {} {}\n", function, program);
  return out;
}

std::string zshScript(const std::string& program, const std::vector<CommandWords>& commands) {
  std::string out = fmt::format("#compdef {}\n", program);
  auto to = std::back_inserter(out);
  fmt::format_to(to, kHead, program, "zsh", fmt::format("place it as `_{}` in a folder of $fpath", program));
  fmt::format_to(to, "_{}() {{\n  local -a commands=(\n", program);
  for (const CommandWords& command : commands) fmt::format_to(to, "    {}\n", quoted(command.name + ":" + zshText(command.help)));
  out +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    _files -g '*.tbem'\n    return\n  fi\n  local "
      "command=${words[2]}\n"
      "  if ((${${commands%%:*}[(Ie)$command]})); then\n    shift words\n    ((CURRENT--))\n  else\n    command=run\n  fi\n  "
      "case $command in\n";
  for (const CommandWords& command : commands) {
    fmt::format_to(to, "    {})\n      _arguments \\\n", command.name);
    for (const OptionWords& option : command.options) addZshOption(out, option);
    fmt::format_to(to, "        {} ;;\n", quoted(command.takesPrograms ? "*:program:_files -g \"*.tbem\"" : "*:file:_files"));
  }
  fmt::format_to(to, "  esac\n}}\nif [[ $funcstack[1] == _{0} ]]; then\n  _{0} \"$@\"\nelse\n  compdef _{0} {0}\nfi\n", program);
  return out;
}

std::string fishScript(const std::string& program, const std::vector<CommandWords>& commands) {
  std::string out = fmt::format(kHead, program, "fish", fmt::format("place it as ~/.config/fish/completions/{}.fish", program));
  auto to = std::back_inserter(out);
  const std::string names = fmt::format("{}", fmt::join(namesOf(commands), " "));
  fmt::format_to(to, "set -l commands {}\n", names);
  for (const CommandWords& command : commands) {
    fmt::format_to(to, "complete -c {} -n \"not __fish_seen_subcommand_from $commands\" -a {} -d {}\n", program, command.name,
                   quoted(command.help));
    for (const OptionWords& option : command.options) {
      fmt::format_to(to, "complete -c {} -n \"__fish_seen_subcommand_from {}\"", program, command.name);
      for (const std::string& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takesValue) out += " -r";
      if (!option.values.empty()) fmt::format_to(to, " -f -a {}", quoted(fmt::format("{}", fmt::join(option.values, " "))));
      fmt::format_to(to, " -d {}\n", quoted(option.help));
    }
  }
  return out;
}

}  // namespace tbem::driver
