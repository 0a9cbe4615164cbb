// tbemc new NAME: a folder with a program, its test and a workflow that runs it, from the template in tools/template.
#include "compiler/driver/Commands.h"
#include "compiler/show/Out.h"
#include "compiler/syntax/layout/Words.h"
#include "runtime/files/Write.h"

#include <embedded/tbem_template.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::driver {

namespace {

struct NewOptions : CommandOptions {
  std::string name;
};

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isNameCharacter(char c) { return isLetter(c) || (c >= '0' && c <= '9') || c == '_'; }

/// Why a program cannot be called so, or "": other programs import it by its name.
std::string wrongName(const std::string& name) {
  if (std::ranges::find(syntax::reservedWords(), name) != syntax::reservedWords().end())
    return fmt::format("`{}` is a reserved word of the language: choose another name", name);
  if (!name.empty() && isLetter(name.front()) && std::ranges::all_of(name, isNameCharacter)) return {};
  if (name.find('/') != std::string::npos)
    return fmt::format("`{}` is a path: give a name, in the folder where the new one is to lie", name);
  return fmt::format("`{}` is no name: a letter, then letters, digits and `_`", name);
}

void declare(OptionList& list, NewOptions& o) {
  list.add("NAME", o.name, "the program's name, and that of its folder").required().check(wrongName);
  list.flag("-q,--quiet", o.display.quiet, "do not list the files");
}

std::string unheeded(const Given& /*given*/, const NewOptions& /*options*/) { return {}; }

/// The template's word for the program's name, replaced.
std::string named(std::string_view text, const std::string& name) {
  constexpr std::string_view kPlace = "NAME";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t place = std::min(text.find(kPlace, at), text.size());
    out += text.substr(at, place - at);
    if (place < text.size()) out += name;
    at = place + kPlace.size();
  }
  return out;
}

int run(show::Out& out, const NewOptions& options) {
  std::vector<files::NewFile> all;
  for (const program_template::File& file : program_template::files())
    all.push_back({named(file.name, options.name), named(file.text, options.name), file.text.starts_with("#!")});
  if (const auto written = files::writeFolder(options.name, all); !written) {
    const files::Failure& failure = written.error();
    out.failure(failure.code == EEXIST ? fmt::format("`{}` is there already: choose another name, or move it away", options.name)
                                       : failure.message);
    return failure.code == EEXIST ? kUsage : kEnvironment;
  }
  if (options.display.quiet) return kOk;
  for (const files::NewFile& file : all) out.print("{}/{}\n", options.name, file.path);
  out.print("test it: {0}/test.sh; run it: tbemc {0}/{0}.tbem\n", options.name);
  return kOk;
}

}  // namespace

const Command kNew = {"new", "a new program with its test and a workflow, in a folder of its name", Takes::Own, false,
                      invocation<NewOptions, declare, unheeded, run>};

}  // namespace tbem::driver
