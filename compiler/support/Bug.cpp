#include "compiler/support/Bug.h"

#include <utility>
#include <vector>

namespace tbem {

namespace {
// A bug is found where nothing of the program is at hand.
thread_local std::vector<const BugContext*> contexts;
}  // namespace

Bug::Bug(std::string_view file, int line, std::string_view message, std::string program)
    : text(fmt::format("{}:{}: {}", file, line, message)), compiled(std::move(program)) {}

BugContext::BugContext(Text text, const void* compiled) : text(text), compiled(compiled) { contexts.push_back(this); }

BugContext::~BugContext() { std::erase(contexts, this); }

void throwBug(std::string_view file, int line, std::string_view message) {
  throw Bug(file, line, message, contexts.empty() ? std::string() : contexts.back()->program());
}

}  // namespace tbem
