#include "compiler/spec/Solver.h"

#include "compiler/spec/Translate.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>

namespace tbem::spec {

namespace {

/// One line an answer: "none", "unknown REASON", "found SYMBOL NUM DEN ...".
std::string answerLine(const Question& question, const SolverLimits& limits) {
  try {
    return solve(question, limits.steps);
  } catch (const std::bad_alloc&) {
    return "unknown out of memory";
  } catch (const z3::exception& error) {
    std::string reason = error.msg();
    for (char& c : reason) c = c == '\n' ? ' ' : c;
    return "unknown " + reason;
  }
}

bool writeAll(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

/// Runs in the child: answers from `first` on, one line each.
[[noreturn]] void answerAll(const std::vector<Question>& questions, std::size_t first, const SolverLimits& limits, int file) {
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0) {
    std::uint64_t have = 0;
    if (std::FILE* status = std::fopen("/proc/self/statm", "r")) {
      unsigned long long pages = 0;
      if (std::fscanf(status, "%llu", &pages) == 1) have = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
      std::fclose(status);
    }
    space.rlim_cur = std::min<rlim_t>(space.rlim_max, have + limits.memory);
    setrlimit(RLIMIT_AS, &space);
  }
  for (std::size_t i = first; i < questions.size(); ++i) {
    if (!writeAll(file, answerLine(questions[i], limits) + "\n")) break;
  }
  _exit(0);
}

Answer parse(const std::string& line, std::size_t symbols) {
  Answer answer;
  std::istringstream in(line);
  std::string word;
  in >> word;
  if (word == "none") {
    answer.kind = Answer::Kind::None;
  } else if (word == "found") {
    answer.kind = Answer::Kind::Found;
    answer.values.resize(symbols);
    std::size_t symbol = 0;
    Rational value;
    while (in >> symbol >> value.num >> value.den) {
      if (symbol < symbols) answer.values[symbol] = value;
    }
  } else {
    std::getline(in >> std::ws, answer.reason);
  }
  return answer;
}

/// Reads answers of one child into `answers` from `first` on; the number of the first question that has none.
std::size_t collect(int file, const std::vector<Question>& questions, std::size_t first, const SolverLimits& limits,
                    std::vector<Answer>& answers, bool& late) {
  std::string open;
  char buffer[4096];
  while (first < questions.size()) {
    pollfd ready{file, POLLIN, 0};
    const int status = ::poll(&ready, 1, static_cast<int>(limits.seconds) * 1000);
    if (status < 0 && errno == EINTR) continue;
    late = status == 0;
    if (status <= 0) break;
    const ssize_t count = ::read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    open.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end = open.find('\n'); end != std::string::npos && first < questions.size(); end = open.find('\n')) {
      answers[first] = parse(open.substr(0, end), questions[first].context->allDomains().size());
      open.erase(0, end + 1);
      ++first;
    }
  }
  return first;
}

}  // namespace

std::vector<Answer> ask(const std::vector<Question>& questions, const SolverLimits& limits) {
  std::vector<Answer> answers(questions.size());
  std::size_t next = 0;
  while (next < questions.size()) {
    int ends[2];
    if (::pipe(ends) != 0) break;
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
      ::close(ends[0]);
      ::close(ends[1]);
      break;
    }
    if (child == 0) {
      ::close(ends[0]);
      // It ends with its parent, however that ends. Where the parent is gone already there is nobody to tell it.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != self) _exit(0);
      answerAll(questions, next, limits, ends[1]);
    }
    ::close(ends[1]);
    bool late = false;
    next = collect(ends[0], questions, next, limits, answers, late);
    ::close(ends[0]);
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (next < questions.size()) {
      answers[next].reason = late ? "stopped after " + std::to_string(limits.seconds) + " s" : "the solver's process ended early";
      ++next;
    }
  }
  for (std::size_t i = next; i < questions.size(); ++i) answers[i].reason = "no process for the solver";
  return answers;
}

}  // namespace tbem::spec
