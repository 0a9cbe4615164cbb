#include "compiler/options/OptionList.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace tbem::driver {

namespace {

/// A text as a number of this type; nothing: it is none, or more stands behind it. strtoull would take -1 for the largest
/// number, and what is larger for the largest.
template <class T>
std::optional<T> numberIn(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

Option& Option::type(const char* name) {
  option->type_name(name);
  return *this;
}

Option& Option::oneOf(std::vector<std::string> words) {
  option->check(CLI::IsMember(std::move(words)));
  return *this;
}

Option& Option::check(std::function<std::string(const std::string& text)> why) {
  option->check(CLI::Validator([why = std::move(why)](std::string& text) { return why(text); }, ""));
  return *this;
}

Option& Option::wholeNumber() {
  return check([](const std::string& text) {
    return numberIn<std::uint64_t>(text) ? std::string() : fmt::format("`{}` is no whole number from 0 to 2^64 - 1", text);
  });
}

Option& Option::wholeNumber(std::int64_t least, std::int64_t most) {
  return check([=](const std::string& text) {
    const auto value = numberIn<std::int64_t>(text);
    return value && *value >= least && *value <= most ? std::string()
                                                      : fmt::format("`{}` is no whole number from {} to {}", text, least, most);
  });
}

/// Every form of a number but hexadecimals; `nan` and `inf` are none.
Option& Option::number(double least, double most, const char* what) {
  return check([=](const std::string& text) {
    const auto value = numberIn<double>(text);
    return value && std::isfinite(*value) && *value >= least && *value <= most ? std::string()
                                                                               : fmt::format("`{}` is no {}", text, what);
  });
}

Option& Option::seconds() { return number(0, 1e9, "number of seconds from 0 to 1e9"); }

Option& Option::showDefault() {
  option->capture_default_str();
  return *this;
}

Option& Option::defaultIs(const char* text) {
  option->default_str(text);
  return *this;
}

Option& Option::needs(const Option& other) {
  option->needs(other.option);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option->excludes(other.option);
  return *this;
}

Option& Option::excludes(const char* name) {
  option->excludes(name);
  return *this;
}

Option& Option::required() {
  option->required();
  return *this;
}

Option& Option::single() {
  option->allow_extra_args(false);
  return *this;
}

Option& Option::hidden() {
  option->group("");
  return *this;
}

Option OptionList::flag(const char* names, bool& into, const std::string& help) {
  return Option(app.add_flag(names, into, help));
}

template <class T>
Option OptionList::add(const char* names, T& into, const std::string& help) {
  return Option(app.add_option(names, into, help));
}
template Option OptionList::add(const char*, std::string&, const std::string&);
template Option OptionList::add(const char*, std::optional<std::string>&, const std::string&);
template Option OptionList::add(const char*, std::vector<std::string>&, const std::string&);
template Option OptionList::add(const char*, unsigned&, const std::string&);
template Option OptionList::add(const char*, std::int64_t&, const std::string&);
template Option OptionList::add(const char*, std::uint64_t&, const std::string&);
template Option OptionList::add(const char*, double&, const std::string&);
template Option OptionList::add(const char*, std::optional<unsigned>&, const std::string&);
template Option OptionList::add(const char*, std::optional<std::uint64_t>&, const std::string&);
template Option OptionList::add(const char*, std::optional<double>&, const std::string&);

bool Given::has(const char* name) const {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

const char* Given::firstOf(const std::vector<const char*>& names) const {
  const auto found = std::find_if(names.begin(), names.end(), [&](const char* name) { return has(name); });
  return found == names.end() ? nullptr : *found;
}

void completeOptions(CLI::App& app) {
  for (const char* form : {"--sarif", "--csv"}) {
    if (CLI::Option* option = app.get_option_no_throw(form); option != nullptr) option->excludes("--json");
  }
  for (CLI::Option* option : app.get_options()) {
    if (option->get_type_size() == 0 || option->check_lname("alloc-conf") || option->check_lname("recorded-conf")) continue;
    Option(option).check([](const std::string& text) { return text.empty() ? "it is empty" : ""; });
  }
}

}  // namespace tbem::driver
